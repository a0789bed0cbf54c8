package registry

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/text/unicode/norm"
)

// User is a person of a home.
type User struct {
	ID     string `json:"user_id"` // on record wherever the user asks or answers
	HomeID string `json:"home_id"`
	Name   string `json:"name"`
	Rights
	// Speakers are the ids by which the devices of the home know the user's voice.
	Speakers []string `json:"speaker_ids"`
	// TokenOwner is the owner of a configured token that is the user's; "" for one with a token of the registry.
	TokenOwner string    `json:"token_owner,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
}

// AddUser adds a person to a home, with a new token unless TokenOwner says that there is one. Only the token's SHA-256 is kept:
// the returned text exists nowhere else. ErrNoHome if there is no such home; ErrUserTaken if the id, the token's owner or one
// of the speakers of that home is another user's.
func (r *Registry) AddUser(ctx context.Context, u User) (token string, err error) {
	hashed := ""
	if u.TokenOwner == "" {
		token = rand.Text()
		hashed = digest(token)
	}
	err = r.within(ctx, "users", func(tx *transaction) error {
		if err := homeThere(ctx, tx, u.HomeID); err != nil {
			return err
		}
		if err := userFree(ctx, tx, u); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO users (id, home_id, name, may_command, may_confirm, may_hear, token_hash, token_owner, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, u.ID, u.HomeID, norm.NFC.String(u.Name), bit(u.Command), bit(u.Confirm), bit(u.Hear), hashed,
			u.TokenOwner, ms(r.now()))
		for _, speaker := range u.Speakers {
			if err != nil {
				break
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO user_speakers (home_id, speaker_id, user_id) VALUES (?, ?, ?)`,
				u.HomeID, norm.NFC.String(speaker), u.ID)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("add user %q to home %q: %w", u.ID, u.HomeID, err)
	}
	return token, nil
}

// userFree tells that nobody else has what the user is to have.
func userFree(ctx context.Context, tx *transaction, u User) error {
	var ids, owners int
	err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM users WHERE id = ?), (SELECT count(*) FROM users WHERE token_owner = ? AND token_owner <> '')`,
		u.ID, u.TokenOwner).Scan(&ids, &owners)
	switch {
	case err != nil:
		return err
	case ids > 0:
		return fmt.Errorf("%w: the id %q", ErrUserTaken, u.ID)
	case owners > 0:
		return fmt.Errorf("%w: the token of %q", ErrUserTaken, u.TokenOwner)
	}
	for _, speaker := range u.Speakers {
		var holder string
		err := tx.QueryRowContext(ctx, `SELECT user_id FROM user_speakers WHERE home_id = ? AND speaker_id = ?`, u.HomeID, norm.NFC.String(speaker)).Scan(&holder)
		if err == nil {
			return fmt.Errorf("%w: the speaker %q, who is %q", ErrUserTaken, speaker, holder)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// RemoveUser takes a person and their token away; ErrNoUser if there is none of that id.
func (r *Registry) RemoveUser(ctx context.Context, id string) error {
	err := r.within(ctx, "users", func(tx *transaction) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM user_speakers WHERE user_id = ?`, id); err != nil {
			return err
		}
		removed, err := tx.ExecContext(ctx, `DELETE FROM users WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := removed.RowsAffected(); err != nil || n == 0 {
			return orElse(err, ErrNoUser)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove user %q: %w", id, err)
	}
	return nil
}

// Users lists the people of a home, the oldest first; "" is every home.
func (r *Registry) Users(ctx context.Context, homeID string) ([]User, error) {
	return r.users(ctx, `? IN ('', u.home_id)`, homeID)
}

// UserByToken finds whose token of the registry it is; ok is false if it is nobody's.
func (r *Registry) UserByToken(ctx context.Context, token string) (u User, ok bool, err error) {
	return first(r.users(ctx, `u.token_hash = ?`, digest(token)))
}

// UserByOwner finds the user who comes with the configured token of an owner; ok is false if that owner is no user of a home.
func (r *Registry) UserByOwner(ctx context.Context, owner string) (u User, ok bool, err error) {
	return first(r.users(ctx, `u.token_owner = ? AND u.token_owner <> ''`, owner))
}

func first(found []User, err error) (User, bool, error) {
	if err != nil || len(found) == 0 {
		return User{}, false, err
	}
	return found[0], true, nil
}

// users reads users and what the devices call them: one row for each speaker, and one for a user without any.
func (r *Registry) users(ctx context.Context, which string, args ...any) (found []User, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT u.id, u.home_id, u.name, u.may_command, u.may_confirm, u.may_hear, u.token_owner, u.created_at,
		COALESCE(s.speaker_id, '') FROM users u LEFT JOIN user_speakers s ON s.user_id = u.id WHERE `+which+`
		ORDER BY u.created_at, u.id, s.speaker_id`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		u, speaker := User{Speakers: []string{}}, ""
		var command, confirm, hear, createdAt int64
		if err := rows.Scan(&u.ID, &u.HomeID, &u.Name, &command, &confirm, &hear, &u.TokenOwner, &createdAt, &speaker); err != nil {
			return nil, r.db.classify(err)
		}
		u.Rights, u.CreatedAt = rightsOf(command, confirm, hear), instant(createdAt)
		i := slices.IndexFunc(found, func(other User) bool { return other.ID == u.ID })
		if i < 0 {
			found, i = append(found, u), len(found)
		}
		if speaker != "" {
			found[i].Speakers = append(found[i].Speakers, speaker)
		}
	}
	return found, nil
}
