package activities

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

// fakeLink is a device at the other end of a wire that does what the test says.
type fakeLink struct {
	submit   func(plan.Submit) (plan.Submitted, error)
	contexts []map[string]any // one a look; the last stays
	err      error
	sent     int
	status   plan.Finding   // found unless set
	read     map[string]any // what a command of a plain node answers
}

var _ Link = (*fakeLink)(nil)

func (f *fakeLink) Submit(_ context.Context, c plan.Submit) (plan.Submitted, error) {
	f.sent++
	return f.submit(c)
}
func (f *fakeLink) CancelTask(_ context.Context, c plan.CancelTask) (plan.CancelAnswered, error) {
	return plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelDone}, f.err
}
func (f *fakeLink) Status(_ context.Context, c plan.QueryStatus) (plan.StatusReported, error) {
	finding := plan.StatusFound
	if f.status != "" {
		finding = f.status
	}
	return plan.StatusReported{OperationID: c.OperationID, Finding: finding}, f.err
}
func (f *fakeLink) Read(context.Context, string, plan.ReadBack) (map[string]any, error) {
	return f.read, f.err
}
func (f *fakeLink) Tasks(context.Context, string) (operations []string, partial bool, err error) {
	return []string{"p/a/1"}, true, f.err
}
func (f *fakeLink) Context(context.Context, string) (map[string]any, error) {
	if f.err != nil || len(f.contexts) == 0 {
		return nil, f.err
	}
	seen := f.contexts[0]
	if len(f.contexts) > 1 {
		f.contexts = f.contexts[1:]
	}
	return seen, nil
}
func (f *fakeLink) Say(context.Context, plan.Say) error { return f.err }
func (f *fakeLink) Ask(context.Context, plan.Ask) error { return f.err }

func device(link Link) *Device {
	return &Device{link: link, looks: func(context.Context) error { return nil }}
}

// Law 9: only what surely was not sent is undelivered; every other failure is unknown.
func TestLaw09SubmitTellsUndeliveredFromUnknown(t *testing.T) {
	for _, c := range []struct {
		err  error
		want plan.Delivery
	}{
		{fmt.Errorf("no socket of r1: %w", ErrNotConnected), plan.DeliveryUndelivered},
		{context.DeadlineExceeded, plan.DeliveryUnknown},
		{errors.New("the socket broke"), plan.DeliveryUnknown},
		{nil, plan.DeliveryAccepted},
	} {
		link := &fakeLink{submit: func(c2 plan.Submit) (plan.Submitted, error) {
			return plan.Submitted{OperationID: c2.OperationID, Delivery: plan.DeliveryAccepted}, c.err
		}}
		got, err := device(link).Submit(t.Context(), plan.Submit{OperationID: "p/a/1"})
		if err != nil || got.Delivery != c.want || got.OperationID != "p/a/1" {
			t.Errorf("link error %v: %+v, %v; want %s", c.err, got, err, c.want)
		}
	}
}

// Law 17: a precondition that is false, or that nobody can know, sends nothing.
func TestLaw17PreconditionsAreMetBeforeAnythingIsSent(t *testing.T) {
	stale := map[string]any{"battery": map[string]any{"level": 80.0},
		"freshness": map[string]any{"battery": map[string]any{"usable": false}}}
	for name, c := range map[string]struct {
		seen map[string]any
		want plan.Delivery
	}{
		"met":     {map[string]any{"battery": map[string]any{"level": 80.0}}, plan.DeliveryAccepted},
		"not met": {map[string]any{"battery": map[string]any{"level": 3.0}}, plan.DeliveryRefused},
		"absent":  {map[string]any{}, plan.DeliveryRefused},
		"stale":   {stale, plan.DeliveryRefused},
	} {
		link := &fakeLink{contexts: []map[string]any{c.seen}, submit: func(plan.Submit) (plan.Submitted, error) {
			return plan.Submitted{Delivery: plan.DeliveryAccepted}, nil
		}}
		got, err := device(link).Submit(t.Context(), plan.Submit{Preconditions: []string{"context.battery.level > 20"}})
		if err != nil || got.Delivery != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
		if got.Unasked != (c.want == plan.DeliveryRefused) {
			t.Errorf("%s: unasked %v: the machine must know that the device said nothing", name, got.Unasked)
		}
		if sent := link.sent > 0; sent != (c.want == plan.DeliveryAccepted) {
			t.Errorf("%s: sent %v", name, sent)
		}
	}
}

func TestVerifyLooksAgainBeforeItContradicts(t *testing.T) {
	at := func(room string) map[string]any { return map[string]any{"location": map[string]any{"room_name": room}} }
	for name, c := range map[string]struct {
		contexts []map[string]any
		err      error
		want     plan.Verdict
	}{
		"at once":         {[]map[string]any{at("안방")}, nil, plan.Verified},
		"a source lags":   {[]map[string]any{at("거실"), at("거실"), at("안방")}, nil, plan.Verified},
		"elsewhere":       {[]map[string]any{at("거실")}, nil, plan.Contradicted},
		"nobody can tell": {[]map[string]any{{}}, nil, plan.Unverified},
		"unreachable":     {nil, ErrNotConnected, plan.Unverified},
	} {
		got, err := device(&fakeLink{contexts: c.contexts, err: c.err}).Verify(t.Context(), plan.Verify{OperationID: "p/a/1",
			Expression: "context.location.room_name == args.position_name", Arguments: map[string]any{"position_name": "안방"}})
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
}

// Only context observed after the completion counts for a periodic source (design §6 Verification).
func TestVerifyIgnoresPeriodicObservationsFromBefore(t *testing.T) {
	seen := func(observed float64, policy string) map[string]any {
		return map[string]any{"battery": map[string]any{"charging": true},
			"freshness": map[string]any{"battery": map[string]any{"policy": policy, "observed_at": observed, "usable": true}}}
	}
	for name, c := range map[string]struct {
		seen  map[string]any
		epoch int64
		want  plan.Verdict
	}{
		"periodic, after":        {seen(2000, "periodic"), 1, plan.Verified},
		"periodic, before":       {seen(500, "periodic"), 1, plan.Unverified},
		"periodic, another boot": {seen(2000, "periodic"), 2, plan.Unverified},
		"on change, before":      {seen(500, "on_change"), 1, plan.Verified},
	} {
		got, err := device(&fakeLink{contexts: []map[string]any{c.seen}}).Verify(t.Context(),
			plan.Verify{Expression: "context.battery.charging", CompletedAt: 1000, Epoch: 1, Route: plan.Route{BootEpoch: c.epoch}})
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
}

// Law 17: a source that calls itself stale or unusable neither confirms a completion nor contradicts it, and is on no receipt.
func TestLaw17AStaleSourceGivesNoVerdict(t *testing.T) {
	for _, flags := range []map[string]any{{"stale": true}, {"usable": false}, {"usable": true, "policy": "periodic", "expires_at": 9.0}} {
		for _, charging := range []bool{true, false} {
			seen := map[string]any{"snapshot_ts": 10.0, "battery": map[string]any{"charging": charging},
				"freshness": map[string]any{"battery": flags}}
			got, err := device(&fakeLink{contexts: []map[string]any{seen}}).Verify(t.Context(), plan.Verify{Expression: "context.battery.charging"})
			if err != nil || got.Verdict != plan.Unverified || got.Observed["battery"] != nil {
				t.Errorf("charging %v with %v: %+v, %v; want unverified, nothing observed", charging, flags, got, err)
			}
		}
	}
}

// Law 7: a completion that is told again after the device went on, as to a plan that was reset, is not contradicted by where
// the device is now. One that was never so is.
func TestLaw07WhatChangedSinceDoesNotContradict(t *testing.T) {
	for name, c := range map[string]struct {
		room     string
		observed float64
		epoch    int64
		want     plan.Verdict
	}{
		"there since before":        {"안방", 900, 1, plan.Verified},
		"never there":               {"거실", 900, 1, plan.Contradicted},
		"not there at that moment":  {"거실", 1000, 1, plan.Contradicted},
		"somewhere else since":      {"거실", 1001, 1, plan.Unverified},
		"there again since":         {"안방", 1001, 1, plan.Verified},
		"clocks of different boots": {"거실", 1001, 2, plan.Contradicted},
	} {
		seen := map[string]any{"location": map[string]any{"room_name": c.room}, "freshness": map[string]any{
			"location": map[string]any{"policy": "on_change", "usable": true, "observed_at": c.observed},
			"movement": map[string]any{"policy": "on_change", "usable": true, "observed_at": 5000.0}}}
		got, err := device(&fakeLink{contexts: []map[string]any{seen}}).Verify(t.Context(), plan.Verify{CompletedAt: 1000, Epoch: 1,
			Route: plan.Route{BootEpoch: c.epoch}, Expression: "context.location.room_name == args.position_name", Arguments: map[string]any{"position_name": "안방"}})
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestAFailureToReachTheDeviceIsAnAnswer(t *testing.T) {
	d := device(&fakeLink{err: ErrNotConnected})
	profile := plan.Route{Profile: plan.Profile{Status: true}}
	status, err := d.Status(t.Context(), plan.QueryStatus{OperationID: "p/a/1", Route: profile})
	if err != nil || status.Finding != plan.StatusUnreachable {
		t.Errorf("status %+v, %v", status, err)
	}
	status, err = device(&fakeLink{}).Status(t.Context(), plan.QueryStatus{OperationID: "p/a/1"})
	if err != nil || status.Finding != plan.StatusUnsupported {
		t.Errorf("a device without status: %+v, %v", status, err)
	}
	listed, err := d.Tasks(t.Context(), lease.ListTasks{})
	if err != nil || listed.Listing != lease.Unreachable {
		t.Errorf("tasks %+v, %v", listed, err)
	}
	listed, err = device(&fakeLink{err: fmt.Errorf("plain: %w", ErrCannotTell)}).Tasks(t.Context(), lease.ListTasks{})
	if err != nil || listed.Listing != lease.Unlistable {
		t.Errorf("tasks of a device that cannot tell: %+v, %v", listed, err)
	}
	listed, err = device(&fakeLink{}).Tasks(t.Context(), lease.ListTasks{})
	if err != nil || listed.Listing != lease.Listed || !listed.Partial || len(listed.Operations) != 1 {
		t.Errorf("tasks: %+v, %v", listed, err)
	}
	cancel, err := d.CancelTask(t.Context(), plan.CancelTask{OperationID: "p/a/1"})
	if err != nil || cancel.Case != plan.CancelUnreachable {
		t.Errorf("cancel %+v, %v", cancel, err)
	}
	if err := d.Say(t.Context(), plan.Say{}); !errors.Is(err, ErrNotConnected) {
		t.Errorf("say: %v", err)
	}
}
