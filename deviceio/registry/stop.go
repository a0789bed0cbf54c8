package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Stop is an emergency stop of one device (design §6). While it is in force nothing may move the device, whichever gateway
// holds it and however often that is started anew; only a person's Release ends it.
type Stop struct {
	DeviceID string `json:"-"`
	// ID names the stop: the event by which the device told of it, or a random text for a person's.
	ID string    `json:"stop_id"`
	At time.Time `json:"at"`
	// By is who stopped it: a person's token, or "device" for the device itself.
	By  string `json:"by"`
	Why string `json:"why,omitempty"`
	// ReleasedAt is when a person released it; the zero time while it is in force.
	ReleasedAt time.Time `json:"released_at,omitzero"`
	ReleasedBy string    `json:"released_by,omitempty"`
	// Told says that the plans of that time have heard of it.
	Told bool `json:"-"`
}

// InForce tells that nobody has released it yet.
func (s Stop) InForce() bool { return s.ReleasedAt.IsZero() }

// StopDevice latches a stop. The same stop again changes nothing, not even after its release; and while one of the same
// origin is in force a further one is that one. ErrNoDevice if there is no such device.
func (r *Registry) StopDevice(ctx context.Context, s Stop) error {
	return r.within(ctx, s.DeviceID, func(tx *transaction) error {
		var known, same int
		err := tx.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM devices WHERE id = ?),
			(SELECT COUNT(*) FROM device_stops WHERE device_id = ? AND (stop_id = ? OR (stopped_by = ? AND released_at = 0)))`,
			s.DeviceID, s.DeviceID, s.ID, s.By).Scan(&known, &same)
		switch {
		case err != nil:
			return err
		case known == 0:
			return fmt.Errorf("device %s: %w", short(s.DeviceID), ErrNoDevice)
		case same > 0:
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO device_stops (device_id, stop_id, stopped_at, stopped_by, why) VALUES (?, ?, ?, ?, ?)`,
			s.DeviceID, s.ID, ms(r.now()), s.By, s.Why)
		return err
	})
}

// Release ends every stop of the device that is in force, by a person's word; released is how many there were.
func (r *Registry) Release(ctx context.Context, deviceID, by string) (released int64, err error) {
	err = r.within(ctx, deviceID, func(tx *transaction) error {
		result, err := tx.ExecContext(ctx, `UPDATE device_stops SET released_at = ?, released_by = ? WHERE device_id = ? AND released_at = 0`,
			ms(r.now()), by, deviceID)
		if err == nil {
			released, err = result.RowsAffected()
		}
		return err
	})
	return released, err
}

const stopQuery = `SELECT device_id, stop_id, stopped_at, stopped_by, why, released_at, released_by, told_at FROM device_stops `

// StopOf is the first stop of the device that is in force, read anew before something moves; ok is false if there is none.
func (r *Registry) StopOf(ctx context.Context, deviceID string) (s Stop, ok bool, err error) {
	found, err := r.stops(ctx, `WHERE device_id = ? AND released_at = 0 ORDER BY stopped_at, stop_id LIMIT 1`, deviceID)
	if err != nil || len(found) == 0 {
		return Stop{}, false, err
	}
	return found[0], true, nil
}

// Stops lists the stops that are in force, and those of which the plans have not heard, the oldest first. A gateway asks it
// many times a second: it costs what it returns.
func (r *Registry) Stops(ctx context.Context) ([]Stop, error) {
	return r.stops(ctx, `WHERE released_at = 0 OR told_at = 0 ORDER BY stopped_at, stop_id`)
}

// StopTold records that the plans of the device have heard of a stop.
func (r *Registry) StopTold(ctx context.Context, s Stop) error {
	_, err := r.db.ExecContext(ctx, `UPDATE device_stops SET told_at = ? WHERE device_id = ? AND stop_id = ? AND told_at = 0`,
		ms(r.now()), s.DeviceID, s.ID)
	return err
}

func (r *Registry) stops(ctx context.Context, which string, args ...any) (found []Stop, err error) {
	rows, err := r.db.QueryContext(ctx, stopQuery+which, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		s, err := scanStop(rows)
		if err != nil {
			return nil, r.db.classify(err)
		}
		found = append(found, s)
	}
	return found, nil
}

func scanStop(rows *sql.Rows) (Stop, error) {
	var s Stop
	var at, released, told int64
	err := rows.Scan(&s.DeviceID, &s.ID, &at, &s.By, &s.Why, &released, &s.ReleasedBy, &told)
	s.At, s.ReleasedAt, s.Told = instant(at), instant(released), told != 0
	return s, err
}

// withStops adds to each device the stop that is in force.
func (r *Registry) withStops(ctx context.Context, devices []Device) error {
	if len(devices) == 0 {
		return nil
	}
	stops, err := r.stops(ctx, `WHERE released_at = 0 ORDER BY stopped_at, stop_id`)
	for i := range devices {
		for k := range stops {
			if stops[k].DeviceID == devices[i].ID {
				devices[i].Stopped = &stops[k]
				break
			}
		}
	}
	return err
}
