package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/catalog"
	"errand/catalog/load"
	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/lease"
	"errand/starter/api"
	"errand/starter/plans"
)

const secret = "a-token-of-32-characters-or-more"

// fakePlans is Temporal's side as a test gives it: plans by id.
type fakePlans struct {
	mu      sync.Mutex
	started map[string]plan.Start
	devices map[string]string // plans that exist without a Start: id → device
	homes   map[string]string // of those plans, where it is not the default one
	view    func(id string) (plan.View, error)
	await   func(ctx context.Context, id string) (plan.View, error)
	changes []plans.Change
	watched []int // since of each watch
	// beforeWatch holds up a watch.
	beforeWatch func(context.Context) error
	taken       []any
	keys        []string // of what was taken; the same key again is not taken again
	open        []string // plans that are listed as not over
	err         error    // of every request to a plan
	refusal     error    // of what is taken, alone
	filter      plans.Filter
	lease       func() lease.View // of every device
}

var _ api.Plans = (*fakePlans)(nil)

func (f *fakePlans) Start(_ context.Context, s plan.Start) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, already := f.started[s.PlanID]
	if !already {
		f.started[s.PlanID] = s
	}
	return already, f.err
}

func (f *fakePlans) AwaitPlanned(ctx context.Context, id string) (plan.View, error) {
	return f.await(ctx, id)
}

func (f *fakePlans) Find(_ context.Context, id string) (plans.Line, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.started[id]; ok {
		return plans.Line{PlanID: id, DeviceID: s.DeviceID, HomeID: s.HomeID}, nil
	}
	if device, ok := f.devices[id]; ok {
		return plans.Line{PlanID: id, DeviceID: device, HomeID: f.homes[id]}, nil
	}
	return plans.Line{}, plans.ErrNoPlan
}

func (f *fakePlans) View(ctx context.Context, id string) (plan.View, error) {
	if _, err := f.Find(ctx, id); err != nil {
		return plan.View{}, err
	}
	return f.view(id)
}

func (f *fakePlans) Watch(ctx context.Context, _ string, since int, emit func(plans.Change) error) error {
	f.mu.Lock()
	f.watched = append(f.watched, since)
	f.mu.Unlock()
	if f.beforeWatch != nil {
		if err := f.beforeWatch(ctx); err != nil {
			return err
		}
	}
	for _, c := range f.changes {
		if err := emit(c); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	if n := len(f.changes); n > 0 && f.changes[n-1].Outcome != nil {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *fakePlans) List(_ context.Context, filter plans.Filter) ([]plans.Line, string, error) {
	if filter.Open {
		var lines []plans.Line
		for _, id := range f.open {
			lines = append(lines, plans.Line{PlanID: id, DeviceID: filter.DeviceID})
		}
		return lines, "", f.err
	}
	f.filter = filter
	return []plans.Line{{PlanID: "p-1"}}, "next", f.err
}

func (f *fakePlans) Cancel(ctx context.Context, id string, r plan.CancelRequest) error {
	return f.take(ctx, id, r)
}
func (f *fakePlans) Pause(ctx context.Context, id string, p plan.Pause) error {
	return f.take(ctx, id, p)
}
func (f *fakePlans) Resume(ctx context.Context, id string, r plan.Resume) error {
	return f.take(ctx, id, r)
}
func (f *fakePlans) Amend(ctx context.Context, id string, a plan.Amend) error {
	return f.take(ctx, id, a)
}
func (f *fakePlans) CancelStep(ctx context.Context, id string, s plan.CancelStep) error {
	return f.take(ctx, id, s)
}
func (f *fakePlans) FollowUp(ctx context.Context, id string, u plan.FollowUp) error {
	return f.take(ctx, id, u)
}
func (f *fakePlans) Answer(ctx context.Context, id string, a plan.Answer) error {
	return f.take(ctx, id, a)
}

func (f *fakePlans) take(ctx context.Context, id string, request any) error {
	if _, err := f.Find(ctx, id); err != nil {
		return err
	}
	if f.refusal != nil {
		return f.refusal
	}
	if key := plans.Key(ctx); key != "" {
		if slices.Contains(f.keys, id+key) {
			return nil
		}
		f.keys = append(f.keys, id+key)
	}
	f.taken = append(f.taken, request)
	return f.err
}

// refuse lets every plan say no to what is asked of it.
func (f *fakePlans) refuse(err error) { f.refusal = err }

func (f *fakePlans) Ping(context.Context) error { return f.err }

// house is an API over a real registry file, with a clock that the test moves.
type house struct {
	t        testing.TB
	api      *api.API
	plans    *fakePlans
	registry *registry.Registry
	mu       sync.Mutex
	now      time.Time
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// newHouse has the devices named, approved, in a house with the rooms 안방 (6) and 거실 (1).
func newHouse(t testing.TB, devices ...string) *house {
	t.Helper()
	h := &house{t: t, now: time.UnixMilli(1_790_000_000_000), plans: &fakePlans{started: map[string]plan.Start{}, devices: map[string]string{}}}
	h.plans.await = func(context.Context, string) (plan.View, error) {
		return plan.View{State: plan.Running, Steps: []plan.StepView{{ID: "move"}}}, nil
	}
	h.plans.view = func(id string) (plan.View, error) { return plan.View{PlanID: id, State: plan.Running}, nil }
	var err error
	h.registry, err = registry.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"), registry.WithClock(h.clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.registry.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range devices {
		h.add(name, true)
	}
	h.api = h.serve(50 * time.Millisecond)
	return h
}

// serve is an API over the house that waits so long for a plan.
func (h *house) serve(planWait time.Duration) *api.API {
	h.t.Helper()
	a, err := api.New(api.Parts{Plans: h.plans, Registry: h.registry, Catalog: load.Builtin(), Now: h.clock,
		Tokens: []api.Token{{Owner: "tester", Secret: secret}}, UI: "http://ui", GatewayURL: "ws://house/", Namespace: "default",
		PlanWait: planWait, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) add(name string, approve bool) {
	h.t.Helper()
	ctx := h.t.Context()
	if _, err := h.registry.Declare(ctx, registry.Declaration{ID: "id-" + name, PublicKey: "key", DisplayName: name}); err != nil {
		h.t.Fatal(err)
	}
	if !approve {
		return
	}
	if err := h.registry.Approve(ctx, "id-"+name); err != nil {
		h.t.Fatal(err)
	}
	rooms := []catalog.Room{{ID: "6", Name: "안방"}, {ID: "1", Name: "거실"}}
	if err := h.registry.SetRooms(ctx, "id-"+name, rooms, h.now); err != nil {
		h.t.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
}

func (a answer) problem(t *testing.T) api.Problem {
	t.Helper()
	var p api.Problem
	if a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("the error is %q, not a problem document: %s", a.header.Get("Content-Type"), a.text)
	}
	if err := json.Unmarshal([]byte(a.text), &p); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return p
}

func (a answer) into(t *testing.T, out any) {
	t.Helper()
	if a.status >= 300 {
		t.Fatalf("answered %d: %s", a.status, a.text)
	}
	if err := json.Unmarshal([]byte(a.text), out); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
}

// ask sends a request with the token; headers are pairs.
func (h *house) ask(method, path, body string, headers ...string) answer {
	h.t.Helper()
	return h.askAs(secret, method, path, body, headers...)
}

// askAs is ask with another token.
func (h *house) askAs(token, method, path, body string, headers ...string) answer {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.api.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{status: w.Code, header: w.Header(), text: string(text)}
}
