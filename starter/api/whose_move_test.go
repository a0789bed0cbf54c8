package api_test

import (
	"context"
	"strings"
	"testing"

	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/lease"
	"errand/starter/api"
)

// A device goes to another home only when nothing is under way on it: its plans are those of the home that asked for them.
func TestADeviceThatIsAtWorkIsNotMoved(t *testing.T) {
	for name, tt := range map[string]struct {
		lease lease.View
		open  []string
		code  string
	}{
		"a plan has it":    {lease: lease.View{Holder: &lease.HoldView{WaitView: lease.WaitView{PlanID: "p-2"}}}, code: "plans_under_way"},
		"a plan wants it":  {open: []string{"p-2"}, code: "plans_under_way"},
		"nobody knows":     {lease: lease.View{Quarantine: &lease.QuarantineView{}}, code: "quarantined"},
		"nothing is to do": {},
	} {
		s := newStreet(t)
		s.plans.open = tt.open
		s.plans.lease = func() lease.View { return tt.lease }
		got := s.ask("POST", "/v1/devices/cleaner/move", `{"home_id":"lee"}`)
		d, err := s.registry.Device(t.Context(), "id-cleaner")
		if err != nil {
			t.Fatal(err)
		}
		if tt.code == "" {
			var moved registry.Device
			if got.into(t, &moved); moved.HomeID != "lee" || d.HomeID != "lee" {
				t.Errorf("%s: %+v", name, moved)
			}
			continue
		}
		if p := got.problem(t); p.Status != 409 || p.Code != tt.code || d.HomeID != "kim" {
			t.Errorf("%s: %+v, in %s", name, p, d.HomeID)
		}
	}
	s := newStreet(t)
	if p := s.ask("POST", "/v1/devices/cleaner/move", `{"home_id":"park"}`).problem(t); p.Code != "unknown_home" || !strings.Contains(p.Detail, "home, kim, lee") {
		t.Errorf("%+v", p)
	}
}

// A plan that begins while its device is moved is cancelled, since it is of the home that the device has left.
func TestAPlanThatBeginsDuringTheMoveIsCancelled(t *testing.T) {
	s := newStreet(t)
	looks := 0
	s.plans.lease = func() lease.View {
		if looks++; looks <= 2 { // before the device is moved
			return lease.View{}
		}
		return lease.View{Holder: &lease.HoldView{WaitView: lease.WaitView{PlanID: "p-2"}}}
	}
	if got := s.ask("POST", "/v1/devices/cleaner/move", `{"home_id":"lee"}`); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	want := plan.CancelRequest{By: "tester", Why: "its device was moved to another home", Source: "api"}
	if len(s.plans.taken) != 1 || s.plans.taken[0] != want {
		t.Errorf("taken %+v", s.plans.taken)
	}
}

// The device is looked at again where the plan is started: it is not started for a home that it has left by then.
func TestNothingIsStartedOnADeviceThatWasJustMoved(t *testing.T) {
	s := newStreet(t)
	moving := movedMeanwhile{Registry: s.registry, move: func() {
		if err := s.registry.MoveDevice(t.Context(), "id-cleaner", "lee"); err != nil {
			t.Fatal(err)
		}
	}}
	a, err := api.New(api.Parts{Plans: s.plans, Registry: moving, Catalog: s.api.Catalog, Now: s.clock, Tokens: s.api.Tokens})
	if err != nil {
		t.Fatal(err)
	}
	s.api = a
	p := s.askAs(s.tokens["mina"], "POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘","device_id":"cleaner"}`).problem(t)
	if p.Code != "device_moved" || len(s.plans.started) != 0 {
		t.Errorf("%+v, started %v", p, s.plans.started)
	}
}

// movedMeanwhile moves a device between a person's check and the start.
type movedMeanwhile struct {
	*registry.Registry
	move func()
}

func (m movedMeanwhile) Device(ctx context.Context, id string) (registry.Device, error) {
	m.move()
	return m.Registry.Device(ctx, id)
}
