package robot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Control drives a running robot from another process, through its control API.
type Control struct {
	access
	http *http.Client
}

// DialControl finds the control API of the robot that runs in a state directory.
func DialControl(stateDir string) (*Control, error) {
	text, err := os.ReadFile(filepath.Join(stateDir, controlFile))
	if err != nil {
		return nil, fmt.Errorf("no robot with a control API runs in %s: %w", stateDir, err)
	}
	c := &Control{http: &http.Client{Timeout: maxWait + 10*time.Second}}
	if err := json.Unmarshal(text, &c.access); err != nil {
		return nil, fmt.Errorf("%s: %w", controlFile, err)
	}
	return c, nil
}

// State is the robot as it is now.
func (c *Control) State(ctx context.Context) (s Snapshot, err error) {
	err = c.call(ctx, http.MethodGet, "/state", nil, &s)
	return s, err
}

// Context is the robot's planning context.
func (c *Control) Context(ctx context.Context) (p PlanningContext, err error) {
	err = c.call(ctx, http.MethodGet, "/context", nil, &p)
	return p, err
}

// Ledger returns effects and motions once there are at least so many effects.
func (c *Control) Ledger(ctx context.Context, atLeast int, wait time.Duration) (l Ledger, err error) {
	q := url.Values{"at_least": {strconv.Itoa(atLeast)}, "wait": {wait.String()}}
	err = c.call(ctx, http.MethodGet, "/ledger?"+q.Encode(), nil, &l)
	return l, err
}

// AwaitTask returns an operation's task once it is in the state.
func (c *Control) AwaitTask(ctx context.Context, operationID string, state State, wait time.Duration) (t Task, err error) {
	q := url.Values{"operation_id": {operationID}, "state": {string(state)}, "wait": {wait.String()}}
	err = c.call(ctx, http.MethodGet, "/task?"+q.Encode(), nil, &t)
	return t, err
}

// AddFault scripts a fault and returns its id.
func (c *Control) AddFault(ctx context.Context, f Fault) (id string, err error) {
	var added struct {
		ID string `json:"id"`
	}
	err = c.call(ctx, http.MethodPost, "/faults", f, &added)
	return added.ID, err
}

// AwaitFault returns a fault once it has struck that often.
func (c *Control) AwaitFault(ctx context.Context, id string, hits int, wait time.Duration) (f Fault, err error) {
	q := url.Values{"hits": {strconv.Itoa(hits)}, "wait": {wait.String()}}
	err = c.call(ctx, http.MethodGet, "/faults/"+url.PathEscape(id)+"?"+q.Encode(), nil, &f)
	return f, err
}

// ReleaseFault ends one fault, ClearFaults all.
func (c *Control) ReleaseFault(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/faults/"+url.PathEscape(id)+"/release", nil, nil)
}

// ClearFaults ends and forgets every fault.
func (c *Control) ClearFaults(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Answer answers a question for the person.
func (c *Control) Answer(ctx context.Context, questionID, choice string) error {
	return c.call(ctx, http.MethodPost, "/answers", map[string]string{"question_id": questionID, "choice": choice}, nil)
}

// Observe lets the robot see something: fields are an observation's, such as kind and requires_cloud_decision.
func (c *Control) Observe(ctx context.Context, fields map[string]any) error {
	return c.call(ctx, http.MethodPost, "/observations", fields, nil)
}

// ByHand does something to an object as a person at the robot's side would, and returns the object's id.
func (c *Control) ByHand(ctx context.Context, h Hand) (id string, err error) {
	var done struct {
		ID string `json:"id"`
	}
	err = c.call(ctx, http.MethodPost, "/objects", h, &done)
	return done.ID, err
}

// PressStop presses the emergency stop on the robot, ReleaseStop lets it go.
func (c *Control) PressStop(ctx context.Context, why string) error {
	return c.call(ctx, http.MethodPost, "/stop", map[string]string{"why": why}, nil)
}

// ReleaseStop lets the emergency stop on the robot go; the cloud's latch stays.
func (c *Control) ReleaseStop(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/release", map[string]string{}, nil)
}

// call makes one request and reads its answer into into, unless that is nil.
func (c *Control) call(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	answer, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	if err != nil {
		return fmt.Errorf("control: %s %s: %w", method, path, err)
	}
	if res.StatusCode != http.StatusOK {
		var f failure
		if json.Unmarshal(answer, &f) != nil || f.Error == "" {
			f.Error = string(answer)
		}
		return fmt.Errorf("control: %s %s: %s: %s", method, path, res.Status, f.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
