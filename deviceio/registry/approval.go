package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Offers tells whether the device may be asked to carry out a command: it advertises it, and a person approved it.
func (d Device) Offers(command string) bool {
	return slices.Contains(d.Commands, command) && slices.Contains(d.ApprovedCommands, command)
}

// Unapproved lists what the device advertises and nobody approved yet.
func (d Device) Unapproved() []string {
	return slices.DeleteFunc(slices.Clone(d.Commands), func(c string) bool { return slices.Contains(d.ApprovedCommands, c) })
}

// Approve lets a device connect, and be asked to do everything that it advertises now. What it advertises later waits for the
// next approval. ErrKeyChanged if another device of the same installation is approved.
func (r *Registry) Approve(ctx context.Context, id string) error { return r.approve(ctx, id, nil) }

// ApproveOnly lets a device connect, and be asked to carry out these commands and no others. ErrNotAdvertised if it does not
// offer one of them.
func (r *Registry) ApproveOnly(ctx context.Context, id string, commands []string) error {
	return r.approve(ctx, id, append([]string{}, commands...))
}

// approve lets a device in with the commands; nil are all that it advertises.
func (r *Registry) approve(ctx context.Context, id string, commands []string) error {
	return r.within(ctx, id, func(tx *transaction) error {
		advertised, err := letIn(ctx, tx, id)
		if err != nil {
			return err
		}
		if commands == nil {
			commands = advertised
		}
		for _, c := range commands {
			if !slices.Contains(advertised, c) {
				return fmt.Errorf("device %s: %q: %w", short(id), c, ErrNotAdvertised)
			}
		}
		surface, err := json.Marshal(append([]string{}, commands...))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE devices SET state = 'approved', approved_commands = ?, state_at = ?, other_key_device = '', other_key_at = 0 WHERE id = ?`,
			string(surface), ms(r.now()), id)
		return err
	})
}

// letIn checks that the device may be approved, and returns what it advertises.
func letIn(ctx context.Context, tx *transaction, id string) (advertised []string, err error) {
	var key, instance, commands string
	err = tx.QueryRowContext(ctx, `SELECT public_key, instance_id, commands FROM devices WHERE id = ?`, id).Scan(&key, &instance, &commands)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("device %s: %w", short(id), ErrNoDevice)
	}
	if err == nil {
		err = sameKey(ctx, tx, Declaration{ID: id, PublicKey: key, InstanceID: instance})
	}
	if err == nil {
		err = unmarshal([]byte(commands), &advertised)
	}
	return advertised, err
}

// Revoke throws a device out: its tokens and setup codes are void, nothing is sent to it any more, and its gateway closes its
// socket as soon as it sees it (Revoked).
func (r *Registry) Revoke(ctx context.Context, id string) error {
	return r.within(ctx, id, func(tx *transaction) error {
		err := one(tx.ExecContext(ctx, `UPDATE devices SET state = 'revoked', state_at = ?, other_key_device = '', other_key_at = 0 WHERE id = ?`, ms(r.now()), id))
		if err != nil {
			return fmt.Errorf("device %s: %w", short(id), err)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM device_tokens WHERE device_id = ?`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM setup_codes WHERE device_id = ?`, id)
		return err
	})
}

// Revoked lists the devices that were revoked since then and still are. A gateway asks it often: it costs what it returns.
func (r *Registry) Revoked(ctx context.Context, since time.Time) (ids []string, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT id FROM devices WHERE state = 'revoked' AND state_at >= ?`, ms(since))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, r.db.classify(err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Standing is whether a device is let in, and what it may be asked to do: read anew before something moves.
func (r *Registry) Standing(ctx context.Context, id string) (state State, approved []string, err error) {
	var commands string
	err = r.db.QueryRowContext(ctx, `SELECT state, approved_commands FROM devices WHERE id = ?`, id).Scan(&state, &commands)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, fmt.Errorf("device %s: %w", short(id), ErrNoDevice)
	}
	if err == nil {
		err = unmarshal([]byte(commands), &approved)
	}
	return state, approved, r.db.classify(err)
}
