package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"golang.org/x/text/unicode/norm"
)

// deviceQuery reads devices with their presence. It takes the time twice, for the two leases.
const deviceQuery = `
	SELECT d.id, d.public_key, d.request_id, d.state, d.display_name, d.friendly_name, d.caps, d.commands, d.profile,
	       d.instance_id, d.permissions, d.approved_commands, d.state_at, d.store_id, d.retention_ms, d.rooms, d.rooms_at, d.created_at, d.last_seen_at,
	       d.home_id, d.other_key_device, d.other_key_at,
	       d.state = 'approved' AND EXISTS (SELECT 1 FROM connections c JOIN gateways g ON g.id = c.gateway_id
	               WHERE c.device_id = d.id AND c.expires_at > ? AND g.expires_at > ?)
	FROM devices d`

// Devices lists every device, the oldest first.
func (r *Registry) Devices(ctx context.Context) ([]Device, error) {
	return r.devices(ctx, ` ORDER BY d.created_at, d.id`)
}

// Device returns one device by its id; ErrNoDevice if there is none.
func (r *Registry) Device(ctx context.Context, id string) (Device, error) {
	found, err := r.devices(ctx, ` WHERE d.id = ?`, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("device %q: %w", short(id), ErrNoDevice)
	}
	if err != nil {
		return Device{}, err
	}
	return found[0], nil
}

// Resolve finds the device that a person means: by id, else by friendly name, else by a display name that only one
// device has. ErrNoDevice or ErrAmbiguous otherwise. Revoked devices are nobody.
func (r *Registry) Resolve(ctx context.Context, name string) (Device, error) {
	name = norm.NFC.String(name)
	found, err := r.devices(ctx, ` WHERE d.state <> 'revoked' AND ? IN (d.id, d.friendly_name, d.display_name)`, name)
	if err != nil {
		return Device{}, err
	}
	for _, same := range []func(Device) bool{
		func(d Device) bool { return d.ID == name },
		func(d Device) bool { return d.FriendlyName == name },
	} {
		for _, d := range found {
			if name != "" && same(d) {
				return d, nil
			}
		}
	}
	switch {
	case len(found) == 1 && name != "":
		return found[0], nil
	case len(found) > 1 && name != "":
		return Device{}, fmt.Errorf("device %q: %w", name, ErrAmbiguous)
	}
	return Device{}, fmt.Errorf("device %q: %w", name, ErrNoDevice)
}

func (r *Registry) devices(ctx context.Context, rest string, args ...any) ([]Device, error) {
	found, err := r.rows(ctx, rest, args...)
	if err == nil {
		err = r.withStops(ctx, found)
	}
	return found, err
}

func (r *Registry) rows(ctx context.Context, rest string, args ...any) (found []Device, err error) {
	now := ms(r.now())
	rows, err := r.db.QueryContext(ctx, deviceQuery+rest, append([]any{now, now}, args...)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		d, err := scanDevice(rows)
		if err != nil {
			return nil, r.db.classify(err)
		}
		found = append(found, d)
	}
	return found, nil
}

func scanDevice(rows *sql.Rows) (Device, error) {
	var d Device
	var caps, commands, profile, permissions, approved, rooms string
	var otherKey string
	var stateAt, roomsAt, createdAt, lastSeenAt, otherKeyAt int64
	err := rows.Scan(&d.ID, &d.PublicKey, &d.RequestID, &d.State, &d.DisplayName, &d.FriendlyName, &caps, &commands, &profile,
		&d.InstanceID, &permissions, &approved, &stateAt, &d.StoreID, &d.RetentionMs, &rooms, &roomsAt, &createdAt, &lastSeenAt, &d.HomeID, &otherKey, &otherKeyAt, &d.Online)
	if err != nil {
		return Device{}, err
	}
	if otherKey != "" {
		d.OtherKey = &OtherKey{DeviceID: otherKey, At: instant(otherKeyAt)}
	}
	d.StateAt, d.RoomsAt, d.CreatedAt, d.LastSeenAt = instant(stateAt), instant(roomsAt), instant(createdAt), instant(lastSeenAt)
	err = errors.Join(unmarshal([]byte(caps), &d.Caps), unmarshal([]byte(commands), &d.Commands),
		unmarshal([]byte(profile), &d.Profile), unmarshal([]byte(rooms), &d.Rooms),
		unmarshal([]byte(permissions), &d.Permissions), unmarshal([]byte(approved), &d.ApprovedCommands))
	if err != nil {
		return Device{}, fmt.Errorf("device %s: %w", short(d.ID), err)
	}
	return d, nil
}
