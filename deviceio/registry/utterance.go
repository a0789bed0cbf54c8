package registry

import (
	"context"
	"fmt"
	"time"
)

// RememberedFor is how long an idempotency key is remembered (design §6, "Old intentions do not move robots").
const RememberedFor = 30 * 24 * time.Hour

// Remembered is a request that was taken.
type Remembered struct {
	Key        string
	BodyHash   string // over the decoded, normalised, known fields
	WorkflowID string
	At         time.Time
	// Existing says that it was there before this call: answer with its workflow, start nothing new.
	Existing bool
}

// Remember records that the request under this key became the workflow, or returns the record that is there already.
// ErrDifferentBody if that one had another body. Keys older than RememberedFor are forgotten.
func (r *Registry) Remember(ctx context.Context, key, bodyHash, workflowID string, now time.Time) (Remembered, error) {
	var row Remembered
	err := r.within(ctx, "request/"+key, func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM utterances WHERE created_at <= ?`, ms(now.Add(-RememberedFor)))
		if err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, `
			INSERT INTO utterances (request_key, body_hash, workflow_id, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (request_key) DO NOTHING`, key, bodyHash, workflowID, ms(now))
		if err != nil {
			return err
		}
		added, err := result.RowsAffected()
		if err != nil {
			return err
		}
		var at int64
		row = Remembered{Key: key, Existing: added == 0}
		err = tx.QueryRowContext(ctx, `SELECT body_hash, workflow_id, created_at FROM utterances WHERE request_key = ?`, key).
			Scan(&row.BodyHash, &row.WorkflowID, &at)
		row.At = instant(at)
		return err
	})
	if err != nil {
		return Remembered{}, fmt.Errorf("remember request %q: %w", key, err)
	}
	if row.BodyHash != bodyHash {
		return row, fmt.Errorf("request %q: %w", key, ErrDifferentBody)
	}
	return row, nil
}
