package registry

import (
	"context"
	"errors"
	"fmt"
)

// Shown is the TLS certificate that gateways show, by its fingerprint: lowercase hex SHA-256; "" without TLS.
type Shown struct {
	Fingerprint string
	Next        string // announced to take its place; "" for none
}

// ShowCertificate records what a gateway shows. The gateway must have been added.
func (r *Registry) ShowCertificate(ctx context.Context, gatewayID string, s Shown) error {
	_, err := r.db.ExecContext(ctx, `UPDATE gateways SET fingerprint = ?, next_fingerprint = ? WHERE id = ?`, s.Fingerprint, s.Next, gatewayID)
	if err != nil {
		return fmt.Errorf("record the certificate of gateway %s: %w", gatewayID, err)
	}
	return nil
}

// Certificates lists the different certificates that the gateways show which are alive; where none is, what those showed that were
// alive last. Gateways behind one URL show one.
func (r *Registry) Certificates(ctx context.Context) (all []Shown, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT DISTINCT fingerprint, next_fingerprint FROM gateways
		WHERE expires_at > ? OR (expires_at = (SELECT max(expires_at) FROM gateways) AND NOT EXISTS (SELECT 1 FROM gateways WHERE expires_at > ?))
		ORDER BY fingerprint, next_fingerprint`, ms(r.now()), ms(r.now()))
	if err != nil {
		return nil, fmt.Errorf("look for the gateways' certificates: %w", err)
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		var s Shown
		if err := rows.Scan(&s.Fingerprint, &s.Next); err != nil {
			return nil, r.db.classify(err)
		}
		all = append(all, s)
	}
	return all, nil
}
