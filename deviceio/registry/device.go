package registry

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
	"errand/plan"
)

// State says whether a device may connect.
type State string

// The states of a device.
const (
	Pending  State = "pending"  // asked to be paired; a person must approve it
	Approved State = "approved" // may connect
	Revoked  State = "revoked"  // was thrown out; stays out until approved again
)

// Device is what is known of one device.
type Device struct {
	ID           string    `json:"device_id"`
	PublicKey    string    `json:"public_key"`
	RequestID    string    `json:"request_id"` // of its pairing request
	State        State     `json:"state"`
	StateAt      time.Time `json:"state_at,omitzero"` // when it was set by a person
	DisplayName  string    `json:"display_name"`      // what it calls itself
	FriendlyName string    `json:"friendly_name"`     // what people call it; "" for none
	HomeID       string    `json:"home_id"`           // where it is; DefaultHome until a person moves it
	Caps         []string  `json:"caps"`
	// Commands is what it advertised when it last connected, and ApprovedCommands what a person let it be asked to do: only
	// what is in both is sent (Offers).
	Commands         []string `json:"commands"`
	ApprovedCommands []string `json:"approved_commands"`
	// Permissions is what it said of its own permissions: granted or not; one that it does not name is not known.
	Permissions map[string]bool `json:"permissions"`
	// InstanceID names the installation behind the key, "" if it names none: one installation has one key.
	InstanceID  string       `json:"instance_id"`
	Profile     plan.Profile `json:"profile"`
	StoreID     string       `json:"store_id"`     // "" for a plain node
	RetentionMs int64        `json:"retention_ms"` // how long its store remembers an operation
	// Rooms is its own room catalog as read at RoomsAt; the zero time means never.
	Rooms      []catalog.Room `json:"rooms"`
	RoomsAt    time.Time      `json:"rooms_at,omitzero"`
	CreatedAt  time.Time      `json:"created_at"`
	LastSeenAt time.Time      `json:"last_seen_at"`
	// Online says that Route would find it now.
	Online bool `json:"online"`
	// Stopped is the emergency stop that is in force, nil for none.
	Stopped *Stop `json:"stopped,omitempty"`
	// OtherKey says that its installation came with another key since it was let in, and was turned away; nil for never.
	OtherKey *OtherKey `json:"other_key,omitempty"`
}

// OtherKey is who came as a known installation with another key: it was set up anew, or somebody else says to be it.
type OtherKey struct {
	DeviceID string    `json:"device_id"` // that goes with the key
	At       time.Time `json:"at"`        // when it came last, to the minute
}

// Name is what to call the device before people: what they call it, else what it calls itself.
func (d Device) Name() string {
	if d.FriendlyName != "" {
		return d.FriendlyName
	}
	return d.DisplayName
}

// Declaration is what a device says of itself in its handshake, its identity already proved.
type Declaration struct {
	ID, PublicKey, DisplayName string
	InstanceID                 string // "" for none
	Caps, Commands             []string
	Permissions                map[string]bool
	Profile                    plan.Profile
	StoreID                    string
	RetentionMs                int64
}

// Declare records a device's declaration and returns the device. An unknown one becomes Pending with a pairing request,
// which stays the same however often it knocks. A revoked one changes nothing of itself.
//
// ErrKeyChanged if it says to be a device that is approved, and has another key: nothing is recorded then.
func (r *Registry) Declare(ctx context.Context, d Declaration) (Device, error) {
	row, err := declared(d)
	if err != nil {
		return Device{}, err
	}
	if known, err := r.unchanged(ctx, d, row); known || err != nil {
		if err != nil {
			return Device{}, fmt.Errorf("look for device %s: %w", short(d.ID), err)
		}
		return r.Device(ctx, d.ID)
	}
	now := ms(r.now())
	err = r.within(ctx, d.ID, func(tx *transaction) error {
		if err := sameKey(ctx, tx, d); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO devices (id, public_key, request_id, state, display_name, caps, commands, permissions, instance_id, profile,
			                     store_id, retention_ms, created_at, last_seen_at)
			VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, caps = excluded.caps, commands = excluded.commands,
				permissions = excluded.permissions, instance_id = excluded.instance_id, profile = excluded.profile,
				store_id = excluded.store_id, retention_ms = excluded.retention_ms, last_seen_at = excluded.last_seen_at
			WHERE devices.state <> 'revoked'`,
			d.ID, d.PublicKey, rand.Text(), norm.NFC.String(d.DisplayName), row.caps, row.commands, row.permissions, d.InstanceID, row.profile,
			d.StoreID, d.RetentionMs, now, now)
		return err
	})
	if errors.Is(err, ErrKeyChanged) {
		err = errors.Join(err, r.noteOtherKey(ctx, d))
	}
	if err != nil {
		return Device{}, fmt.Errorf("record device %s: %w", short(d.ID), err)
	}
	return r.Device(ctx, d.ID)
}

// noteOtherKey records at the known device that its installation came with another key, where an operator sees it: once a minute, since who
// is turned away knocks again and again.
func (r *Registry) noteOtherKey(ctx context.Context, d Declaration) error {
	now := r.now()
	_, err := r.db.ExecContext(ctx, `UPDATE devices SET other_key_device = ?, other_key_at = ?
		WHERE id <> ? AND instance_id = ? AND instance_id <> '' AND state = 'approved' AND (other_key_device <> ? OR other_key_at <= ?)`,
		d.ID, ms(now), d.ID, d.InstanceID, d.ID, ms(now.Add(-time.Minute)))
	return err
}

// unchanged tells that an approved device declares what is on record. Then there is nothing to write: when it was seen, the heartbeat
// of its gateway records. A fleet that comes back at once would wait for the disk.
func (r *Registry) unchanged(ctx context.Context, d Declaration, row lists) (bool, error) {
	var n int
	err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM devices WHERE id = ? AND public_key = ? AND state = 'approved' AND display_name = ?
		AND caps = ? AND commands = ? AND permissions = ? AND instance_id = ? AND profile = ? AND store_id = ? AND retention_ms = ?`,
		d.ID, d.PublicKey, norm.NFC.String(d.DisplayName), row.caps, row.commands, row.permissions, d.InstanceID, row.profile, d.StoreID,
		d.RetentionMs).Scan(&n)
	return n == 1, r.db.classify(err)
}

// sameKey refuses another key for a known device: under its id, or under the name of its installation.
func sameKey(ctx context.Context, tx *transaction, d Declaration) error {
	var id, key string
	err := tx.QueryRowContext(ctx, `SELECT id, public_key FROM devices
		WHERE (id = ? AND public_key <> ?) OR (id <> ? AND instance_id = ? AND instance_id <> '' AND state = 'approved')`,
		d.ID, d.PublicKey, d.ID, d.InstanceID).Scan(&id, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: it is known as device %s with key %s; revoke that one if it was set up anew", ErrKeyChanged, short(id), short(key))
}

// lists is the parts of a declaration that are kept as JSON.
type lists struct{ caps, commands, permissions, profile string }

func declared(d Declaration) (row lists, err error) {
	if d.Permissions == nil {
		d.Permissions = map[string]bool{}
	}
	for into, part := range map[*string]any{&row.caps: append([]string{}, d.Caps...), &row.commands: append([]string{}, d.Commands...),
		&row.permissions: d.Permissions, &row.profile: d.Profile} {
		body, err := json.Marshal(part)
		if err != nil {
			return row, err
		}
		*into = string(body)
	}
	return row, nil
}

// Describe records what a device can be relied on for, and its store, where that is other than what is on record.
func (r *Registry) Describe(ctx context.Context, id string, profile plan.Profile, storeID string, retentionMs int64) error {
	body, err := json.Marshal(profile)
	if err != nil {
		return err
	}
	_, err = r.db.ExecContext(ctx, `UPDATE devices SET profile = ?, store_id = ?, retention_ms = ?
		WHERE id = ? AND (profile <> ? OR store_id <> ? OR retention_ms <> ?)`,
		string(body), storeID, retentionMs, id, string(body), storeID, retentionMs)
	if err != nil {
		return fmt.Errorf("record what device %s can be relied on for: %w", short(id), err)
	}
	return nil
}

// SetFriendlyName sets what people call a device; "" takes the name away. ErrNameTaken if another device has it.
func (r *Registry) SetFriendlyName(ctx context.Context, id, name string) error {
	name = norm.NFC.String(name)
	return r.within(ctx, "names", func(tx *transaction) error {
		var holder string
		err := tx.QueryRowContext(ctx, `SELECT id FROM devices WHERE friendly_name = ? AND friendly_name <> '' AND id <> ?`, name, id).Scan(&holder)
		if err == nil {
			return fmt.Errorf("%q: %w: %s", name, ErrNameTaken, short(holder))
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return one(tx.ExecContext(ctx, `UPDATE devices SET friendly_name = ? WHERE id = ?`, name, id))
	})
}

// SetRooms records the device's room catalog as read at the time.
func (r *Registry) SetRooms(ctx context.Context, id string, rooms []catalog.Room, at time.Time) error {
	body, err := json.Marshal(append([]catalog.Room{}, rooms...))
	if err != nil {
		return err
	}
	return one(r.db.ExecContext(ctx, `UPDATE devices SET rooms = ?, rooms_at = ? WHERE id = ?`, string(body), ms(at), id))
}

// one turns "no row was changed" into ErrNoDevice.
func one(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return ErrNoDevice
	}
	return err
}
