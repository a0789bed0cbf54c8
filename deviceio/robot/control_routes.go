package robot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
)

// Snapshot is the robot at one moment, as GET /state tells it.
type Snapshot struct {
	DeviceID  string      `json:"device_id"`
	StoreID   string      `json:"store_id"`
	BootID    string      `json:"boot_id"`
	Offline   bool        `json:"offline"` // kept off the air by a fault
	World     World       `json:"world"`
	Running   *Task       `json:"running,omitempty"`
	Queue     []*Task     `json:"queue"`
	Faults    []Fault     `json:"faults"`
	Said      []Utterance `json:"said"`
	Questions []Question  `json:"questions"`
	// Untold is how many events wait to be put into the outbox.
	Untold int `json:"untold"`
}

// Ledger is what GET /ledger tells.
type Ledger struct {
	Effects []Effect `json:"effects"`
	Motions []Motion `json:"motions"`
	ByHand  []ByHand `json:"by_hand"`
}

func (c *control) state(req *http.Request) (any, error) {
	r, ctx := c.robot, req.Context()
	faults := r.Faults()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, r.broken
	}
	s := Snapshot{DeviceID: c.deviceID, StoreID: r.store.id, BootID: r.outbox.BootID(), Offline: r.faults.offline(),
		World: r.world.snapshot(), Queue: []*Task{}, Faults: faults, Untold: len(r.pending)}
	var err, err2 error
	s.Said, err = r.store.said(ctx)
	s.Questions, err2 = r.store.questions(ctx, "")
	if r.running != nil {
		s.Running = r.running.copy()
	}
	for _, t := range r.queue {
		s.Queue = append(s.Queue, t.copy())
	}
	return s, errors.Join(err, err2)
}

// copy returns the task as it stands: its run changes with every tick.
func (t *Task) copy() *Task {
	twin := *t
	if t.Run != nil {
		run := *t.Run
		run.Phases = append([]phase(nil), t.Run.Phases...)
		twin.Run = &run
	}
	return &twin
}

func (c *control) ledger(req *http.Request) (any, error) {
	want, err := number(req, "at_least", 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := waiting(req)
	if err != nil {
		return nil, err
	}
	defer cancel()
	path := filepath.Dir(c.file)
	var l Ledger
	var readErr error
	err = c.robot.await(ctx, func() bool {
		l.Effects, readErr = ReadLedger(path)
		return readErr != nil || len(l.Effects) >= want
	})
	if err == nil {
		err = readErr
	}
	if err == nil {
		l.Motions, err = ReadMotions(path)
	}
	if err == nil {
		l.ByHand, err = ReadByHand(path)
	}
	return l, err
}

// task tells how an operation stands; with state and wait, once it stands so.
func (c *control) task(req *http.Request) (any, error) {
	id, want := req.URL.Query().Get("operation_id"), State(req.URL.Query().Get("state"))
	ctx, cancel, err := waiting(req)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var found *Task
	var findErr error
	err = c.robot.await(ctx, func() bool {
		t, err := c.robot.find(req.Context(), id, "")
		if findErr = err; err != nil {
			return true
		}
		if t != nil {
			found = t.copy()
		}
		return found != nil && (want == "" || found.State == want)
	})
	if err == nil {
		err = findErr
	}
	return found, err
}

func (c *control) addFault(req *http.Request) (any, error) {
	var f Fault
	if err := read(req, &f); err != nil {
		return nil, err
	}
	id, err := c.robot.AddFault(f)
	return map[string]string{"id": id}, err
}

func (c *control) fault(req *http.Request) (any, error) {
	hits, err := number(req, "hits", 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := waiting(req)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return c.robot.AwaitFault(ctx, req.PathValue("id"), hits)
}

func (c *control) answer(req *http.Request) (any, error) {
	var a struct {
		QuestionID string `json:"question_id"`
		Choice     string `json:"choice"`
	}
	if err := read(req, &a); err != nil {
		return nil, err
	}
	return done, c.robot.Answer(req.Context(), a.QuestionID, a.Choice)
}

func (c *control) observe(req *http.Request) (any, error) {
	fields := map[string]any{}
	if err := read(req, &fields); err != nil {
		return nil, err
	}
	return done, c.robot.Observe(req.Context(), fields)
}

func (c *control) byHand(req *http.Request) (any, error) {
	var h Hand
	if err := read(req, &h); err != nil {
		return nil, err
	}
	id, err := c.robot.ByHand(req.Context(), h)
	return map[string]string{"id": id}, err
}

func (c *control) pressStop(req *http.Request) (any, error) {
	var s struct {
		Why string `json:"why"`
	}
	if err := read(req, &s); err != nil {
		return nil, err
	}
	return done, c.robot.PressStop(req.Context(), s.Why)
}

func read(req *http.Request, into any) error {
	dec := json.NewDecoder(req.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the body is not what this takes: %w", err)
	}
	return nil
}
