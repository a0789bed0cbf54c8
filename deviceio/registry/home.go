package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"

	"errand/plan"
)

// DefaultHome is the home of every device that nobody moved to another one. Its people are those who own a configured token of
// the API, besides the users that it is given.
const DefaultHome = plan.DefaultHome

// Rights is what somebody may do with the devices of a home (design §6, Who is speaking).
type Rights struct {
	// Command is to have a device do something, and to steer the plan that it is at.
	Command bool `json:"may_command"`
	// Confirm is to answer where a plan asks for consent.
	Confirm bool `json:"may_confirm"`
	// Hear is to be told what plans do and have done, and what a device says of itself.
	Hear bool `json:"may_hear"`
}

// All is every right there is.
func All() Rights { return Rights{Command: true, Confirm: true, Hear: true} }

// Any tells that there is at least one right.
func (r Rights) Any() bool { return r != Rights{} }

// Home is where devices are, and people with rights over them.
type Home struct {
	ID   string `json:"home_id"`
	Name string `json:"name"`
	// Voice is what may be done by a voice at one of its devices that the device does not know, or does not name.
	Voice     Rights    `json:"voice"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// SetHome makes a home, or changes the name and the rights of the voices of one that is there.
func (r *Registry) SetHome(ctx context.Context, h Home) error {
	_, err := r.db.ExecContext(ctx, `
		INSERT INTO homes (id, name, voice_command, voice_confirm, voice_hear, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, voice_command = excluded.voice_command,
			voice_confirm = excluded.voice_confirm, voice_hear = excluded.voice_hear`,
		h.ID, norm.NFC.String(h.Name), bit(h.Voice.Command), bit(h.Voice.Confirm), bit(h.Voice.Hear), ms(r.now()))
	if err != nil {
		return fmt.Errorf("record home %q: %w", h.ID, err)
	}
	return nil
}

const homeQuery = `SELECT id, name, voice_command, voice_confirm, voice_hear, created_at FROM homes `

// Home returns one home; ErrNoHome if there is none of that id.
func (r *Registry) Home(ctx context.Context, id string) (Home, error) {
	found, err := r.homes(ctx, `WHERE id = ?`, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("home %q: %w", id, ErrNoHome)
	}
	if err != nil {
		return Home{}, err
	}
	return found[0], nil
}

// Homes lists every home, the oldest first.
func (r *Registry) Homes(ctx context.Context) ([]Home, error) {
	return r.homes(ctx, `ORDER BY created_at, id`)
}

func (r *Registry) homes(ctx context.Context, which string, args ...any) (found []Home, err error) {
	rows, err := r.db.QueryContext(ctx, homeQuery+which, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		var h Home
		var command, confirm, hear, createdAt int64
		if err := rows.Scan(&h.ID, &h.Name, &command, &confirm, &hear, &createdAt); err != nil {
			return nil, r.db.classify(err)
		}
		h.Voice, h.CreatedAt = rightsOf(command, confirm, hear), instant(createdAt)
		found = append(found, h)
	}
	return found, nil
}

// MoveDevice puts a device in a home, which must be there. What its plans do is the caller's to look at first.
func (r *Registry) MoveDevice(ctx context.Context, deviceID, homeID string) error {
	err := r.within(ctx, deviceID, func(tx *transaction) error {
		if err := homeThere(ctx, tx, homeID); err != nil {
			return err
		}
		return one(tx.ExecContext(ctx, `UPDATE devices SET home_id = ? WHERE id = ?`, homeID, deviceID))
	})
	if err != nil {
		return fmt.Errorf("move device %s to home %q: %w", short(deviceID), homeID, err)
	}
	return nil
}

func homeThere(ctx context.Context, tx *transaction, id string) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM homes WHERE id = ?`, id).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return ErrNoHome
	}
	return nil
}

// HomeOf is the home that a device is in now, read anew before something is said there.
func (r *Registry) HomeOf(ctx context.Context, deviceID string) (Home, error) {
	found, err := r.homes(ctx, `WHERE id = (SELECT home_id FROM devices WHERE id = ?)`, deviceID)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("device %s: %w", short(deviceID), ErrNoDevice)
	}
	if err != nil {
		return Home{}, err
	}
	return found[0], nil
}

// Voice is who speaks at a device, as far as that can be known.
type Voice struct {
	HomeID string
	// By is the user's id, or "voice:<device>" for a voice that nobody knows.
	By string
	Rights
}

// VoiceAt tells who speaks at a device that calls the speaker so; "" where it does not know the voice. A speaker whom no user of
// the device's home goes by is an unknown voice.
func (r *Registry) VoiceAt(ctx context.Context, deviceID, speakerID string) (Voice, error) {
	home, err := r.HomeOf(ctx, deviceID)
	if err != nil {
		return Voice{}, err
	}
	unknown := Voice{HomeID: home.ID, By: "voice:" + deviceID, Rights: home.Voice}
	if speakerID == "" {
		return unknown, nil
	}
	var command, confirm, hear int64
	known := Voice{HomeID: home.ID}
	err = r.db.QueryRowContext(ctx, `SELECT u.id, u.may_command, u.may_confirm, u.may_hear FROM users u
		JOIN user_speakers s ON s.user_id = u.id WHERE s.home_id = ? AND s.speaker_id = ?`, home.ID, norm.NFC.String(speakerID)).
		Scan(&known.By, &command, &confirm, &hear)
	if errors.Is(err, sql.ErrNoRows) {
		return unknown, nil
	}
	known.Rights = rightsOf(command, confirm, hear)
	return known, r.db.classify(err)
}

// bit is a yes or no as both engines keep it.
func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func rightsOf(command, confirm, hear int64) Rights {
	return Rights{Command: command != 0, Confirm: confirm != 0, Hear: hear != 0}
}
