package robot

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// Question is one assistant.ask, with its answer once the person gave one. Times are Unix ms.
type Question struct {
	ID         string   `json:"question_id"`
	Text       string   `json:"text"`
	Choices    []string `json:"choices"`
	ExpiresAt  int64    `json:"expires_at"`
	AskedAt    int64    `json:"asked_at"`
	Choice     string   `json:"choice,omitempty"`
	AnsweredAt int64    `json:"answered_at,omitempty"`
}

// Utterance is one thing the robot said aloud.
type Utterance struct {
	N           int64  `json:"n"`
	Text        string `json:"text"`
	Locale      string `json:"locale,omitempty"`
	At          int64  `json:"at"`
	OperationID string `json:"operation_id,omitempty"`
}

// ErrQuestion is wrapped where an answer does not fit a question.
var ErrQuestion = errors.New("this cannot be answered")

// Say says something aloud (assistant.say).
func (r *Robot) Say(ctx context.Context, s wire.Say) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.utter(s, "", r.now())
	return r.commit(ctx)
}

func (r *Robot) utter(s wire.Say, operationID string, at int64) {
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		return exec(ctx, tx, `INSERT INTO said (text, locale, at, operation_id) VALUES (?, ?, ?, ?)`, s.Text, s.Locale, at, operationID)
	})
	r.report("says: %s", s.Text)
}

// Ask puts a question to the person (assistant.ask). Asking the same question again changes nothing.
// With Home.AutoAnswer set the answer comes at once, as from a person who is always there.
func (r *Robot) Ask(ctx context.Context, q wire.Ask) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	choices, err := json.Marshal(q.Choices)
	if err != nil {
		return err
	}
	known, err := r.question(ctx, q.QuestionID)
	if err != nil || known != nil {
		return err
	}
	at := r.now()
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		return exec(ctx, tx, `INSERT INTO questions (question_id, text, choices, expires_at, asked_at) VALUES (?, ?, ?, ?, ?)`,
			q.QuestionID, q.Text, string(choices), q.ExpiresAt, at)
	})
	r.report("asks (%s): %s %v", q.QuestionID, q.Text, q.Choices)
	if err := r.commit(ctx); err != nil {
		return err
	}
	if choice, ok := r.autoAnswer(q.Choices); ok {
		return r.answer(ctx, q.QuestionID, choice)
	}
	return nil
}

func (r *Robot) autoAnswer(choices []string) (string, bool) {
	switch {
	case r.home.AutoAnswer == "none":
		return "", false
	case r.home.AutoAnswer == "first" && len(choices) > 0:
		return choices[0], true
	}
	return r.home.AutoAnswer, slices.Contains(choices, r.home.AutoAnswer)
}

// Answer answers a question for the person. The answer is stored, then told as assistant.answer.
func (r *Robot) Answer(ctx context.Context, questionID, choice string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer(ctx, questionID, choice)
}

func (r *Robot) answer(ctx context.Context, questionID, choice string) error {
	q, err := r.question(ctx, questionID)
	now := r.now()
	switch {
	case err != nil:
		return err
	case q == nil:
		return fmt.Errorf("%w: no question %q was asked", ErrQuestion, questionID)
	case q.AnsweredAt > 0:
		return fmt.Errorf("%w: %q was answered with %q", ErrQuestion, questionID, q.Choice)
	case q.ExpiresAt > 0 && now > q.ExpiresAt:
		return fmt.Errorf("%w: %q expired", ErrQuestion, questionID)
	case len(q.Choices) > 0 && !slices.Contains(q.Choices, choice):
		return fmt.Errorf("%w: %q is not one of %q", ErrQuestion, choice, q.Choices)
	}
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		return exec(ctx, tx, `UPDATE questions SET choice = ?, answered_at = ? WHERE question_id = ?`, choice, now, questionID)
	})
	r.answers = true
	r.report("is answered: %s", choice)
	return r.commit(ctx)
}

func (r *Robot) question(ctx context.Context, id string) (*Question, error) {
	found, err := r.store.questions(ctx, `WHERE question_id = ?`, id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (s *store) questions(ctx context.Context, where string, args ...any) ([]Question, error) {
	return collect(ctx, s.db, func(rows *sql.Rows, q *Question) error {
		var choices string
		if err := rows.Scan(&q.ID, &q.Text, &choices, &q.ExpiresAt, &q.AskedAt, &q.Choice, &q.AnsweredAt); err != nil {
			return err
		}
		return json.Unmarshal([]byte(choices), &q.Choices)
	}, `SELECT question_id, text, choices, expires_at, asked_at, coalesce(choice, ''), coalesce(answered_at, 0)
		FROM questions `+where+` ORDER BY asked_at, question_id`, args...)
}

// tellAnswers gives the outbox the answers it does not have yet. Their key is the question, so none is told twice.
func (r *Robot) tellAnswers(ctx context.Context) error {
	if !r.answers {
		return nil
	}
	untold, err := r.store.questions(context.WithoutCancel(ctx), `WHERE answered_at > 0 AND told = 0`)
	if err != nil {
		return err
	}
	for _, q := range untold {
		if _, err := r.outbox.Emit(ctx, device.Answer(wire.AnswerEvent{QuestionID: q.ID, Choice: q.Choice})); err != nil {
			r.jam("the answer to "+q.ID, err)
			return nil
		}
		if err := exec(context.WithoutCancel(ctx), r.store.db, `UPDATE questions SET told = 1 WHERE question_id = ?`, q.ID); err != nil {
			return err
		}
	}
	r.answers = false
	return nil
}

// said lists what was said aloud.
func (s *store) said(ctx context.Context) ([]Utterance, error) {
	return collect(ctx, s.db, func(rows *sql.Rows, u *Utterance) error {
		return rows.Scan(&u.N, &u.Text, &u.Locale, &u.At, &u.OperationID)
	}, `SELECT n, text, locale, at, operation_id FROM said ORDER BY n`)
}
