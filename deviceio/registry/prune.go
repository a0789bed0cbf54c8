package registry

import (
	"context"
	"time"
)

// What is kept of things that only grow: a device that floods, or restarts for ever, must not fill the disk.
const (
	// StrayFor and StrayPerDevice bound the events that are in no plan's history: by age, and the newest of each device.
	StrayFor       = 30 * 24 * time.Hour
	StrayPerDevice = 10_000
	// BootsPerDevice is how many boots keep their epochs. A device lists at most 64, and only those of which it still has
	// something to say.
	BootsPerDevice = 1_000
	// SetupCodeKept is how long a setup code that is over is remembered.
	SetupCodeKept = 24 * time.Hour
	// StopFor is how long a stop is remembered once it is released and told: so long a device may tell of it again.
	StopFor = 30 * 24 * time.Hour
	// GatewayFor is how long a gateway that ended is remembered, unless it was some device's last.
	GatewayFor = 30 * 24 * time.Hour
)

// Prune forgets what is beyond these bounds. Gateways call it now and then.
func (r *Registry) Prune(ctx context.Context) error {
	now := r.now()
	return r.within(ctx, "", func(tx *transaction) error {
		for _, forget := range []struct {
			query string
			bound int64
		}{
			{`DELETE FROM stray_events WHERE received_at <= ?`, ms(now.Add(-StrayFor))},
			{`DELETE FROM stray_events WHERE (device_id, event_id, body_hash) IN (SELECT device_id, event_id, body_hash FROM (
				SELECT device_id, event_id, body_hash, row_number() OVER (PARTITION BY device_id ORDER BY received_at DESC, seq DESC) AS place
				FROM stray_events) AS placed WHERE place > ?)`, StrayPerDevice},
			{`DELETE FROM boots WHERE (device_id, boot_id) IN (SELECT device_id, boot_id FROM (
				SELECT device_id, boot_id, row_number() OVER (PARTITION BY device_id ORDER BY epoch DESC) AS place
				FROM boots) AS placed WHERE place > ?)`, BootsPerDevice},
			{`DELETE FROM setup_codes WHERE expires_at <= ?`, ms(now.Add(-SetupCodeKept))},
			{`DELETE FROM device_stops WHERE released_at <> 0 AND told_at <> 0 AND released_at <= ?`, ms(now.Add(-StopFor))},
			{`DELETE FROM gateways WHERE expires_at <= ? AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.gateway_id = gateways.id)`,
				ms(now.Add(-GatewayFor))},
		} {
			if _, err := tx.ExecContext(ctx, forget.query, forget.bound); err != nil {
				return err
			}
		}
		return nil
	})
}
