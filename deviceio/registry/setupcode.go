package registry

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"
)

// SetupCodeFor is how long a setup code can be used.
const SetupCodeFor = 10 * time.Minute

// NewSetupCode makes a code with which one device, whichever it is, is let in within SetupCodeFor: the person who hands it out
// has approved in advance who comes with it. Only its SHA-256 is kept: the returned text exists nowhere else.
func (r *Registry) NewSetupCode(ctx context.Context) (code string, expires time.Time, err error) {
	code, expires = rand.Text(), r.now().Add(SetupCodeFor)
	_, err = r.db.ExecContext(ctx, `INSERT INTO setup_codes (code_hash, created_at, expires_at) VALUES (?, ?, ?)`,
		digest(code), ms(r.now()), ms(expires))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("make a setup code: %w", err)
	}
	return code, expires, nil
}

// SetupCodeValid tells whether the device may come in with the code: nobody used it, and its time has not passed. The device
// that used it may show it again within its time, since the answer that let it in can be lost.
func (r *Registry) SetupCodeValid(ctx context.Context, deviceID, code string) (bool, error) {
	var n int
	err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM setup_codes WHERE code_hash = ? AND expires_at > ? AND device_id IN ('', ?)`,
		digest(code), ms(r.now()), deviceID).Scan(&n)
	return n == 1, r.db.classify(err)
}

// Redeem uses a setup code: the device, which must have been declared, is approved with all that it advertises. ErrSetupCode if
// the code is unknown, over, or was used by another device, or if the device was thrown out before: a code undoes no revocation.
func (r *Registry) Redeem(ctx context.Context, deviceID, code string) error {
	err := r.within(ctx, deviceID, func(tx *transaction) error {
		// One statement: of two devices that come with it at once, one has it.
		used, err := tx.ExecContext(ctx, `UPDATE setup_codes SET device_id = ? WHERE code_hash = ? AND expires_at > ? AND device_id IN ('', ?)
			AND EXISTS (SELECT 1 FROM devices WHERE id = ? AND state <> 'revoked')`, deviceID, digest(code), ms(r.now()), deviceID, deviceID)
		if err != nil {
			return err
		}
		if n, err := used.RowsAffected(); err != nil || n == 0 {
			return orElse(err, ErrSetupCode)
		}
		if _, err := letIn(ctx, tx, deviceID); err != nil {
			return err
		}
		// One that is approved already keeps the surface that a person gave it.
		_, err = tx.ExecContext(ctx, `UPDATE devices SET state = 'approved', approved_commands = commands, state_at = ?
			WHERE id = ? AND state = 'pending'`, ms(r.now()), deviceID)
		return err
	})
	if err != nil {
		return fmt.Errorf("setup code of device %s: %w", short(deviceID), err)
	}
	return nil
}

// orElse is err, or the other where there is none.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
