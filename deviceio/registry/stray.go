package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// StrayEvent is an event that is in no plan's history, kept before it was acknowledged (design §6, law 19).
type StrayEvent struct {
	DeviceID string `json:"device_id"`
	EventID  string `json:"event_id"` // "" if it could not be read
	// BodyHash is the hex SHA-256 of the event as it came: the same event sent again is the same row.
	BodyHash string `json:"body_hash"`
	BootID   string `json:"boot_id"`
	Seq      int64  `json:"seq"`
	Epoch    int64  `json:"epoch"` // of the boot; 0 if unknown
	// Ack is late, unmatched or refused, and Reason says why.
	Ack    string `json:"ack"`
	Reason string `json:"reason"`
	// Body is the event as it may be kept: without the result fields that no catalog lists (law 4).
	Body       json.RawMessage `json:"body"`
	ReceivedAt time.Time       `json:"received_at"`
}

// KeepStray records an event and returns what is on record: for an event sent again, the first row with its first
// acknowledgement. It is on disk when KeepStray returns.
func (r *Registry) KeepStray(ctx context.Context, e StrayEvent) (StrayEvent, error) {
	e.ReceivedAt = r.now()
	err := r.within(ctx, e.DeviceID, func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO stray_events (device_id, event_id, body_hash, boot_id, seq, epoch, ack, reason, body, received_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, event_id, body_hash) DO NOTHING`,
			e.DeviceID, e.EventID, e.BodyHash, e.BootID, e.Seq, e.Epoch, e.Ack, e.Reason, string(e.Body), ms(e.ReceivedAt))
		if err != nil {
			return err
		}
		row := tx.QueryRowContext(ctx, strayQuery+` WHERE device_id = ? AND event_id = ? AND body_hash = ?`, e.DeviceID, e.EventID, e.BodyHash)
		e, err = scanStray(row)
		return err
	})
	if err != nil {
		return StrayEvent{}, fmt.Errorf("keep event %q of device %s: %w", e.EventID, short(e.DeviceID), err)
	}
	return e, nil
}

const strayQuery = `SELECT device_id, event_id, body_hash, boot_id, seq, epoch, ack, reason, body, received_at FROM stray_events`

// ErrPageToken means that a page token is not one that StrayPage returned.
var ErrPageToken = errors.New("not a page token of this list")

// StrayEvents lists a device's stray events, the newest first, at most limit of them.
func (r *Registry) StrayEvents(ctx context.Context, deviceID string, limit int) ([]StrayEvent, error) {
	return r.strays(ctx, `device_id = ?`, limit, deviceID)
}

// StrayPage lists a page of a device's stray events, the newest first, and the token of the next page ("" on the last).
// token is "" for the first page. Events that come in the meantime shift no page: each goes on where the last one ended.
func (r *Registry) StrayPage(ctx context.Context, deviceID string, size int, token string) (page []StrayEvent, next string, err error) {
	where, args := `device_id = ?`, []any{deviceID}
	if token != "" {
		last, err := parseStrayToken(token)
		if err != nil {
			return nil, "", err
		}
		where += ` AND (received_at, seq, event_id, body_hash) < (?, ?, ?, ?)`
		args = append(args, last.ReceivedAt, last.Seq, last.EventID, last.BodyHash)
	}
	page, err = r.strays(ctx, where, size+1, args...)
	if err != nil || len(page) <= size {
		return page, "", err
	}
	page = page[:size]
	next, err = page[size-1].token()
	return page, next, err
}

// strays reads stray events in the one order in which they are listed. The last two columns settle which of two events
// with the same time and number comes first, so that a page has a sharp end.
func (r *Registry) strays(ctx context.Context, where string, limit int, args ...any) (found []StrayEvent, err error) {
	rows, err := r.db.QueryContext(ctx, strayQuery+` WHERE `+where+
		` ORDER BY received_at DESC, seq DESC, event_id DESC, body_hash DESC LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.db.classify(rows.Err()), rows.Close()) }()
	for rows.Next() {
		e, err := scanStray(rows)
		if err != nil {
			return nil, r.db.classify(err)
		}
		found = append(found, e)
	}
	return found, nil
}

// strayPosition is where an event stands in the list.
type strayPosition struct {
	ReceivedAt int64  `json:"at"`
	Seq        int64  `json:"seq"`
	EventID    string `json:"id"`
	BodyHash   string `json:"hash"`
}

func (e StrayEvent) token() (string, error) {
	text, err := json.Marshal(strayPosition{ReceivedAt: ms(e.ReceivedAt), Seq: e.Seq, EventID: e.EventID, BodyHash: e.BodyHash})
	return base64.RawURLEncoding.EncodeToString(text), err
}

func parseStrayToken(token string) (p strayPosition, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.BodyHash == "" {
		return p, ErrPageToken
	}
	return p, nil
}

func scanStray(row interface{ Scan(...any) error }) (StrayEvent, error) {
	var e StrayEvent
	var body string
	var receivedAt int64
	err := row.Scan(&e.DeviceID, &e.EventID, &e.BodyHash, &e.BootID, &e.Seq, &e.Epoch, &e.Ack, &e.Reason, &body, &receivedAt)
	e.Body, e.ReceivedAt = json.RawMessage(body), instant(receivedAt)
	return e, err
}

// unmarshal reads JSON that this package wrote.
func unmarshal(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
