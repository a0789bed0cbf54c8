package registry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// tokensKept is how many tokens a device may have at once. More than one, since the answer that carries a new token
// can be lost, and the device then comes back with its old one.
const tokensKept = 4

// IssueToken makes a new token for a device. Only its SHA-256 is kept: the returned text exists nowhere else.
func (r *Registry) IssueToken(ctx context.Context, deviceID string) (string, error) {
	token := rand.Text()
	err := r.within(ctx, deviceID, func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO device_tokens (token_hash, device_id, issued_at) VALUES (?, ?, ?)`,
			digest(token), deviceID, ms(r.now()))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			DELETE FROM device_tokens WHERE device_id = ? AND token_hash <> ? AND token_hash NOT IN (
				SELECT token_hash FROM device_tokens WHERE device_id = ? AND token_hash <> ? ORDER BY issued_at DESC LIMIT ?)`,
			deviceID, digest(token), deviceID, digest(token), tokensKept-1)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("issue a token for device %s: %w", short(deviceID), err)
	}
	return token, nil
}

// TokenValid tells whether the token was issued to this very device and still stands.
func (r *Registry) TokenValid(ctx context.Context, deviceID, token string) (bool, error) {
	var n int
	err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM device_tokens WHERE token_hash = ? AND device_id = ?`,
		digest(token), deviceID).Scan(&n)
	return n == 1, r.db.classify(err)
}

// TokenOwner tells whose token it is; ok is false if it is nobody's, or stands no more.
func (r *Registry) TokenOwner(ctx context.Context, token string) (deviceID string, ok bool, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT device_id FROM device_tokens WHERE token_hash = ?`, digest(token)).Scan(&deviceID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return deviceID, err == nil, r.db.classify(err)
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
