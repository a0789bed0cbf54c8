package lease_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

func TestTheViewTellsWhoHasItAndWhoWaits(t *testing.T) {
	w := newWorld(t, "a", "b")
	if v := w.state.View(); v.State != lease.Free || v.Holder != nil || v.Queue == nil || len(v.Queue) != 0 || v.DeviceID != testDevice {
		t.Errorf("free: %+v", v)
	}
	w.ask("a", plan.LeaseReplace, 3)
	w.flush()
	w.now += 1000
	w.ask("b", "", 0)
	w.flush()
	want := lease.View{DeviceID: testDevice, State: lease.Held,
		Holder: &lease.HoldView{WaitView: lease.WaitView{PlanID: "a", Since: 1_000_000, Policy: plan.LeaseReplace, Priority: 3, By: "kim"}},
		Queue:  []lease.WaitView{{PlanID: "b", Since: 1_001_000, Policy: plan.LeaseQueue, By: "kim"}}}
	if got := w.state.View(); !reflect.DeepEqual(got, want) {
		t.Errorf("held: %+v %+v, want %+v", got, got.Holder, want)
	}
	w.plans["c"] = &client{id: "c", open: true}
	w.ask("c", plan.LeaseReplace, 5)
	if got := w.state.View(); got.Holder.ReplacedBy != "c" {
		t.Errorf("the holder is told to stop for %q", got.Holder.ReplacedBy)
	}
}

func TestTheViewTellsWhatAQuarantineWaitsFor(t *testing.T) {
	w := moving(t)
	w.dev.deaf = true
	w.release("a")
	want := lease.QuarantineView{PlanID: "a", Why: "plan a ended, and nobody could tell how an operation of it ended", Since: w.now,
		Operations: []lease.OperationView{{ID: "a/s/1", PlanID: "a", Why: "its plan ended without knowing how it ended", Since: w.now}},
		WaitsFor:   "the device to connect, or a person to forget it"}
	if got := w.state.View().Quarantine; !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, want %+v", *got, want)
	}
	w.flush()
	w.tick(3_000)
	w.flush()
	want.WaitsFor, want.Operations[0].Cancel, want.Operations[0].Asked = "the device to say that it is over", plan.CancelStopping, 1
	if got := w.state.View().Quarantine; !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, want %+v", *got, want)
	}
	w.take(lease.Released{LeaseRelease: plan.LeaseRelease{PlanID: "c", DeviceID: testDevice, Unsettled: []string{"c/s/1", "c/s/2"}}})
	if got := w.state.View().Quarantine; got.PlanID != "a" || len(got.Operations) != 3 {
		t.Errorf("after another one: %+v, want the first reason to stand", got)
	}
	two := newWorld(t)
	two.take(lease.Released{LeaseRelease: plan.LeaseRelease{PlanID: "c", DeviceID: testDevice, Unsettled: []string{"c/s/1", "c/s/2"}}})
	if got := two.state.View().Quarantine.Why; got != "plan c ended, and nobody could tell how 2 operations of it ended" {
		t.Errorf("it says %q", got)
	}
}

// Questions to a device that goes on come ever later, up to a minute apart.
func TestQuestionsBackOff(t *testing.T) {
	w := moving(t)
	w.dev.deaf = true
	w.release("a")
	w.flush()
	var waits []int64
	for since := w.now; len(waits) < 7; w.tick(500) {
		if len(pending[lease.QueryStatus](w)) > 0 {
			waits, since = append(waits, w.now-since), w.now
			w.flush()
		}
	}
	if want := []int64{3000, 3000, 6000, 12_000, 24_000, 48_000, 60_000}; !reflect.DeepEqual(waits, want) {
		t.Errorf("asked after %v ms, want %v", waits, want)
	}
}

// An answer without a word in it is no reason to ask again at once.
func TestAnEmptyAnswerToACancelIsNoYes(t *testing.T) {
	w := moving(t)
	w.dev.deaf = true
	w.release("a")
	w.answerWith(func(c lease.Command) lease.Input {
		if c, ok := c.(lease.CancelTask); ok {
			return lease.CancelAnswered{CancelAnswered: plan.CancelAnswered{OperationID: c.OperationID}}
		}
		return nil
	})
	if got := w.state.Unsettled[0]; got.Cancel != plan.CancelRefused || got.CheckAt != w.now+3_000 {
		t.Errorf("%+v, want it to be asked about in 3 s", got)
	}
}

func TestASignalSaysOneThing(t *testing.T) {
	request, release := plan.LeaseRequest{PlanID: "a"}, plan.LeaseRelease{PlanID: "b"}
	for want, s := range map[lease.Input]lease.Signal{
		lease.Requested{LeaseRequest: request}:                 {Request: &request},
		lease.Linked{DeviceChange: plan.DeviceChange{Gone: 7}}: {Link: &plan.DeviceChange{Gone: 7}},
		lease.Forget{By: "kim", Why: "x"}:                      {Forget: &lease.Forget{By: "kim", Why: "x"}},
		nil:                                                    {},
	} {
		var again lease.Signal
		if err := json.Unmarshal(marshal(s), &again); err != nil || again.Input() != want {
			t.Errorf("%s says %+v, want %+v (%v)", marshal(s), again.Input(), want, err)
		}
	}
	if got, ok := (lease.Signal{Release: &release}).Input().(lease.Released); !ok || got.PlanID != "b" {
		t.Errorf("a release says %+v", got)
	}
}
