package robot

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
)

// forgetAtRestart takes out of the store what the next start is not to know. It is called just before a crash, so that
// nothing is answered from it any more. The ledger stays: what came about came about, and a drive that was under way ends here.
func (r *Robot) forgetAtRestart(kind FaultKind, operation string) {
	now := r.now()
	err := r.store.write(context.Background(), func(tx *sql.Tx) error {
		if kind == FaultDropTask {
			return dropTask(tx, operation, now)
		}
		return loseMemory(tx, now)
	})
	if err != nil {
		r.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	}
}

// dropTask forgets one task, as if it had never been taken in.
func dropTask(tx *sql.Tx, operation string, now int64) error {
	return execAll(tx, []string{
		`UPDATE motions SET ended_at = ?2 WHERE operation_id = ?1 AND ended_at IS NULL`,
		`DELETE FROM tasks WHERE operation_id = ?1`,
		`DELETE FROM events WHERE operation_id = ?1`,
	}, operation, now)
}

// loseMemory forgets everything but the world and its ledger. The name of the new memory says so.
func loseMemory(tx *sql.Tx, now int64) error {
	return execAll(tx, []string{
		`UPDATE motions SET ended_at = ?2 WHERE ended_at IS NULL`,
		`DELETE FROM tasks`, `DELETE FROM events`, `DELETE FROM fences`, `DELETE FROM tombstones`,
		`DELETE FROM said`, `DELETE FROM questions`,
		`UPDATE meta SET value = ?1 WHERE key = 'store_id'`,
	}, "store-"+rand.Text()[:16], now)
}

func execAll(tx *sql.Tx, queries []string, args ...any) error {
	for _, query := range queries {
		if err := exec(context.Background(), tx, query, args...); err != nil {
			return err
		}
	}
	return nil
}
