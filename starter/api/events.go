package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"errand/plan"
	"errand/starter/plans"
)

// Names of the server-sent events of a plan.
const (
	EventEntry   = "entry"   // plan.Entry: one line of the journal; its number is the event's id
	EventBound   = "bound"   // plans.Bound: a result became an argument
	EventOutcome = "outcome" // plan.Outcome: how it ended; the last event
	EventProblem = "problem" // Problem: the stream ends without an outcome; come back with Last-Event-ID
)

// writeTimeout bounds one write to a client that does not read.
const writeTimeout = 10 * time.Second

type eventsIn struct {
	ID          string `path:"id" doc:"plan id"`
	Since       int    `query:"since" minimum:"0" doc:"only entries with a higher number"`
	LastEventID int    `header:"Last-Event-ID" minimum:"0" doc:"the same, as browsers send it when they reconnect"`
}

func (a *API) eventRoutes() {
	op := huma.Operation{OperationID: "watch-plan", Path: "/v1/plans/{id}/events", Summary: "Watch a plan until it is over",
		Description: "Server-sent events: entry for each journal entry, bound for each value bound into a step, and at last outcome.",
		Responses: map[string]*huma.Response{"200": {Description: "The plan's events, as they happen",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: a.eventSchema()}}}},
		Errors: []int{401, 403, 404, 422, 503}}
	get(a, op, a.events)
}

// eventSchema describes the data of each event.
func (a *API) eventSchema() *huma.Schema {
	schemas := a.huma.OpenAPI().Components.Schemas
	of := func(t reflect.Type, name string) *huma.Schema { return schemas.Schema(t, true, name) }
	return &huma.Schema{Description: "data of the events entry, bound, outcome and problem", OneOf: []*huma.Schema{
		of(reflect.TypeFor[plan.Entry](), "Entry"), of(reflect.TypeFor[plans.Bound](), "Bound"),
		of(reflect.TypeFor[plan.Outcome](), "Outcome"), of(reflect.TypeFor[Problem](), "Problem")}}
}

func (a *API) events(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	if _, err := a.allowPlan(ctx, toHear, in.ID); err != nil { // while a status can still be sent
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hctx huma.Context) {
		a.metrics.watchers.Inc()
		defer a.metrics.watchers.Dec()
		r, w := humago.Unwrap(hctx)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		s := &stream{w: w, control: http.NewResponseController(w)}
		// The server's read timeout is for requests: here it would end the stream as if the client were gone.
		if err := s.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
		a.watch(r.Context(), in.ID, max(in.Since, in.LastEventID), s)
	}}, nil
}

// watch sends the plan's changes until it is over or the client is gone.
func (a *API) watch(ctx context.Context, id string, since int, s *stream) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.watching, stop)()
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		s.beat(ctx, a.Heartbeat, stop, func() bool { return a.stillHears(ctx, id) })
	}()
	err := a.Plans.Watch(ctx, id, since, s.change)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errGone) {
		var p *Problem
		if errors.As(a.fail(ctx, err), &p) {
			err = s.send(EventProblem, 0, p)
		}
	}
	if err != nil && ctx.Err() == nil {
		a.Log.DebugContext(ctx, "a watcher left", "plan", id, "error", err)
	}
	stop()
	<-beats
}

// errGone means that the client does not read any more.
var errGone = errors.New("the client is gone")

// stream writes server-sent events. The lock keeps a heartbeat from falling into an event.
type stream struct {
	mu      sync.Mutex
	w       io.Writer
	control *http.ResponseController
}

func (s *stream) change(c plans.Change) error {
	switch {
	case c.Entry != nil:
		return s.send(EventEntry, c.Entry.N, c.Entry)
	case c.Bound != nil:
		return s.send(EventBound, 0, c.Bound)
	}
	return s.send(EventOutcome, 0, c.Outcome)
}

// send writes one event. JSON has no raw newline, so its data is one line.
func (s *stream) send(name string, id int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	text := "event: " + name + "\n"
	if id > 0 {
		text += fmt.Sprintf("id: %d\n", id)
	}
	return s.write(text + "data: " + string(body) + "\n\n")
}

func (s *stream) write(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// stillHears tells whether the watcher has the right still: a user may be removed meanwhile. Not to know ends nothing.
func (a *API) stillHears(ctx context.Context, id string) bool {
	_, err := a.allowPlan(ctx, toHear, id)
	var p *Problem
	return !errors.As(err, &p)
}

// beat sends comments until ctx ends; when the client is gone, or may not hear any more, it ends the watch.
func (s *stream) beat(ctx context.Context, every time.Duration, gone context.CancelFunc, hears func() bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !hears() || s.write(": still watching\n\n") != nil {
				gone()
				return
			}
		}
	}
}
