package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"errand/plan"
)

// Connection is a device's place: the gateway that holds its socket, under a growing epoch.
type Connection struct {
	DeviceID  string
	GatewayID string
	// BootID and BootEpoch are the device's current boot. A plain node has none: its boot epoch is the connection's.
	BootID    string
	BootEpoch int64
}

// AddGateway records a gateway process and its task queue, alive for ttl.
func (r *Registry) AddGateway(ctx context.Context, id, taskQueue string, ttl time.Duration) error {
	_, err := r.db.ExecContext(ctx, `
		INSERT INTO gateways (id, task_queue, expires_at) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET task_queue = excluded.task_queue, expires_at = excluded.expires_at`,
		id, taskQueue, ms(r.now().Add(ttl)))
	return err
}

// EndGateway says that a gateway process is over: none of its connections counts any more.
func (r *Registry) EndGateway(ctx context.Context, id string) error {
	_, err := r.db.ExecContext(ctx, `UPDATE gateways SET expires_at = 0 WHERE id = ?`, id)
	return err
}

// Connect records a new connection of a device and returns its epoch, higher than any before. It takes the place of
// every older connection, whichever gateway holds that. The gateway must have been added.
func (r *Registry) Connect(ctx context.Context, c Connection, ttl time.Duration) (epoch int64, err error) {
	if r.db.oneWriter {
		epoch, err = r.joins.connect(ctx, r, c, ttl)
	} else {
		err = r.within(ctx, c.DeviceID, func(tx *transaction) error {
			epoch, err = join(ctx, tx, c, r.now(), ttl)
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("connect device %s: %w", short(c.DeviceID), err)
	}
	return epoch, nil
}

// join records one connection within a transaction.
func join(ctx context.Context, tx *transaction, c Connection, now time.Time, ttl time.Duration) (epoch int64, err error) {
	var last int64
	err = tx.QueryRowContext(ctx, `SELECT connection_epoch FROM connections WHERE device_id = ?`, c.DeviceID).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	epoch = after(last, ms(now))
	if c.BootID == "" {
		c.BootEpoch = epoch
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO connections (device_id, gateway_id, connection_epoch, boot_id, boot_epoch, connected_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (device_id) DO UPDATE SET gateway_id = excluded.gateway_id, connection_epoch = excluded.connection_epoch,
			boot_id = excluded.boot_id, boot_epoch = excluded.boot_epoch, connected_at = excluded.connected_at,
			expires_at = excluded.expires_at`,
		c.DeviceID, c.GatewayID, epoch, c.BootID, c.BootEpoch, ms(now), ms(now.Add(ttl)))
	return epoch, err
}

// Disconnect ends the connection of that epoch; ErrFenced if a newer one took its place, which then stays.
func (r *Registry) Disconnect(ctx context.Context, deviceID string, epoch int64) error {
	err := one(r.db.ExecContext(ctx, `UPDATE connections SET expires_at = 0 WHERE device_id = ? AND connection_epoch = ?`, deviceID, epoch))
	return fenced(deviceID, err)
}

// Heartbeat renews a gateway's own lease and the leases of the connections it holds (device id → epoch), for ttl.
// It returns the devices to let go of: those with a newer connection elsewhere, and those revoked.
func (r *Registry) Heartbeat(ctx context.Context, gatewayID string, held map[string]int64, ttl time.Duration) (lost []string, err error) {
	now := r.now()
	until := ms(now.Add(ttl))
	err = r.within(ctx, "", func(tx *transaction) error {
		if _, err := tx.ExecContext(ctx, `UPDATE gateways SET expires_at = ? WHERE id = ?`, until, gatewayID); err != nil {
			return err
		}
		stale, current, err := standing(ctx, tx, gatewayID, held)
		if err != nil {
			return err
		}
		lost = nil
		for deviceID := range held {
			if !current[deviceID] {
				lost = append(lost, deviceID)
			}
		}
		return renew(ctx, tx, gatewayID, stale, until, now, ttl)
	})
	return lost, err
}

// standing reads the gateway's connections on record: those that it holds and may hold (current), and the leases of those that it does not
// (stale). It reads them all at once: one by one would take a gateway with many devices seconds.
func standing(ctx context.Context, tx *transaction, gatewayID string, held map[string]int64) (stale map[string]int64, current map[string]bool, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT c.device_id, c.connection_epoch, c.expires_at, d.state = 'approved' FROM connections c JOIN devices d ON d.id = c.device_id
		WHERE c.gateway_id = ?`, gatewayID)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	stale, current = make(map[string]int64), make(map[string]bool, len(held))
	for rows.Next() {
		var deviceID string
		var epoch, expires int64
		var approved bool
		if err := rows.Scan(&deviceID, &epoch, &expires, &approved); err != nil {
			return nil, nil, err
		}
		if ours, ok := held[deviceID]; ok && ours == epoch && approved {
			current[deviceID] = true
		} else if expires > 0 {
			stale[deviceID] = expires
		}
	}
	return stale, current, nil
}

// seenEvery is how often, in leases, it is written that a connected device was seen: to know it to the beat would write each device's row
// with each beat.
const seenEvery = 6

// renew extends the leases of the gateway's connections, but for the stale ones, which must run out.
func renew(ctx context.Context, tx *transaction, gatewayID string, stale map[string]int64, until int64, now time.Time, ttl time.Duration) error {
	_, err := tx.ExecContext(ctx, `UPDATE connections SET expires_at = ? WHERE gateway_id = ? AND expires_at > 0`, until, gatewayID)
	if err != nil {
		return err
	}
	for deviceID, expires := range stale {
		_, err := tx.ExecContext(ctx, `UPDATE connections SET expires_at = ? WHERE device_id = ? AND gateway_id = ?`, expires, deviceID, gatewayID)
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE devices SET last_seen_at = ? WHERE last_seen_at <= ?
		AND id IN (SELECT device_id FROM connections WHERE gateway_id = ? AND expires_at = ?)`, ms(now), ms(now.Add(-seenEvery*ttl)), gatewayID, until)
	return err
}

// fenced reads "no row" as a connection that is no longer the caller's.
func fenced(deviceID string, err error) error {
	if errors.Is(err, ErrNoDevice) {
		return fmt.Errorf("device %s: %w", short(deviceID), ErrFenced)
	}
	return err
}

// Route tells where a device can be reached now. ok is false while it is not connected: no connection, a lease that ran
// out (its own or its gateway's), or a device that is not approved. It is what activities need of a directory.
func (r *Registry) Route(ctx context.Context, deviceID string) (route plan.Route, ok bool, err error) {
	now := ms(r.now())
	var profile []byte
	err = r.db.QueryRowContext(ctx, `
		SELECT g.id, g.task_queue, c.connection_epoch, c.boot_epoch, d.store_id, d.retention_ms, d.profile
		FROM connections c JOIN gateways g ON g.id = c.gateway_id JOIN devices d ON d.id = c.device_id
		WHERE c.device_id = ? AND c.expires_at > ? AND g.expires_at > ? AND d.state = 'approved'`, deviceID, now, now).
		Scan(&route.GatewayID, &route.TaskQueue, &route.ConnectionEpoch, &route.BootEpoch, &route.StoreID, &route.RetentionMs, &profile)
	if errors.Is(err, sql.ErrNoRows) {
		return plan.Route{}, false, nil
	}
	if err == nil {
		err = unmarshal(profile, &route.Profile)
	}
	if err != nil {
		return plan.Route{}, false, fmt.Errorf("route to device %s: %w", short(deviceID), r.db.classify(err))
	}
	return route, true, nil
}
