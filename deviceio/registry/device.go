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
	ID           string       `json:"device_id"`
	PublicKey    string       `json:"public_key"`
	RequestID    string       `json:"request_id"` // of its pairing request
	State        State        `json:"state"`
	DisplayName  string       `json:"display_name"`  // what it calls itself
	FriendlyName string       `json:"friendly_name"` // what people call it; "" for none
	Caps         []string     `json:"caps"`
	Commands     []string     `json:"commands"`
	Profile      plan.Profile `json:"profile"`
	StoreID      string       `json:"store_id"`     // "" for a plain node
	RetentionMs  int64        `json:"retention_ms"` // how long its store remembers an operation
	// Rooms is its own room catalog as read at RoomsAt; the zero time means never.
	Rooms      []catalog.Room `json:"rooms"`
	RoomsAt    time.Time      `json:"rooms_at,omitzero"`
	CreatedAt  time.Time      `json:"created_at"`
	LastSeenAt time.Time      `json:"last_seen_at"`
	// Online says that Route would find it now.
	Online bool `json:"online"`
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
	Caps, Commands             []string
	Profile                    plan.Profile
	StoreID                    string
	RetentionMs                int64
}

// Declare records a device's declaration and returns the device. An unknown one becomes Pending with a pairing request,
// which stays the same however often it knocks. A revoked one changes nothing of itself.
func (r *Registry) Declare(ctx context.Context, d Declaration) (Device, error) {
	caps, commands, profile, err := declared(d)
	if err != nil {
		return Device{}, err
	}
	now := ms(r.now())
	_, err = r.db.ExecContext(ctx, `
		INSERT INTO devices (id, public_key, request_id, state, display_name, caps, commands, profile, store_id, retention_ms,
		                     created_at, last_seen_at)
		VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, caps = excluded.caps, commands = excluded.commands,
			profile = excluded.profile, store_id = excluded.store_id, retention_ms = excluded.retention_ms,
			last_seen_at = excluded.last_seen_at
		WHERE devices.state <> 'revoked'`,
		d.ID, d.PublicKey, rand.Text(), norm.NFC.String(d.DisplayName), caps, commands, profile, d.StoreID, d.RetentionMs, now, now)
	if err != nil {
		return Device{}, fmt.Errorf("record device %s: %w", short(d.ID), classify(err))
	}
	return r.Device(ctx, d.ID)
}

func declared(d Declaration) (caps, commands, profile string, err error) {
	list := func(v any) (text string) {
		var body []byte
		if err == nil {
			body, err = json.Marshal(v)
		}
		return string(body)
	}
	return list(append([]string{}, d.Caps...)), list(append([]string{}, d.Commands...)), list(d.Profile), err
}

// Approve lets a device connect.
func (r *Registry) Approve(ctx context.Context, id string) error {
	return r.setState(ctx, id, Approved)
}

// Revoke throws a device out: its tokens are void, its connection is closed at the gateway's next heartbeat.
func (r *Registry) Revoke(ctx context.Context, id string) error { return r.setState(ctx, id, Revoked) }

func (r *Registry) setState(ctx context.Context, id string, to State) error {
	return r.within(ctx, func(tx *sql.Tx) error {
		if err := one(tx.ExecContext(ctx, `UPDATE devices SET state = ? WHERE id = ?`, string(to), id)); err != nil {
			return fmt.Errorf("device %s: %w", short(id), err)
		}
		if to != Revoked {
			return nil
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM device_tokens WHERE device_id = ?`, id)
		return err
	})
}

// SetFriendlyName sets what people call a device; "" takes the name away. ErrNameTaken if another device has it.
func (r *Registry) SetFriendlyName(ctx context.Context, id, name string) error {
	name = norm.NFC.String(name)
	return r.within(ctx, func(tx *sql.Tx) error {
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
		return classify(err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return ErrNoDevice
	}
	return err
}
