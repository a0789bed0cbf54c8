package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// The tests drive the machine against a model of the world: a device that deduplicates, remembers and reports, and a
// shell that answers every command. The model is judged by what it did (effects), never by what it said.

const (
	testPlan   = "p-1"
	testDevice = "robot-1"
	storeA     = "store-a"
	askedAt    = int64(1_000_000)
)

func text() catalog.SlotSchema { return catalog.SlotSchema{Type: "string"} }

func testSlice() *catalog.Slice {
	say := map[string]catalog.Text{
		"done":       {Ko: "했어요.", En: "Done."},
		"unverified": {Ko: "한 것 같아요.", En: "Probably done."},
		"failed":     {Ko: "못 했어요.", En: "Could not."},
	}
	c := func(id string, impact catalog.Impact, verify string, slots []catalog.Slot, fields ...string) catalog.Capability {
		contract := catalog.ResultContract{Envelope: id == "move"}
		for _, f := range fields {
			contract.BindableResultFields = append(contract.BindableResultFields, catalog.ResultField{Name: f, Schema: text()})
		}
		return catalog.Capability{ID: id, Title: catalog.Text{Ko: id, En: id}, Operations: []string{"start"}, TaskMethod: "do_" + id, CompletionTarget: id + ".done",
			Slots: slots, ResultContract: contract, Impact: impact, Verify: verify, Enabled: true, Say: say,
			Cancel: catalog.CancelStop, Timeouts: catalog.Timeouts{QueueMs: 60_000, RunMs: 120_000}}
	}
	asModel := func(c catalog.Capability) catalog.Capability { // a person's plan needs no confirmation of it
		c.Confirm = &catalog.Confirm{Policy: catalog.ConfirmFromModel}
		return c
	}
	return &catalog.Slice{
		Digest: "sha256:test",
		Capabilities: []catalog.Capability{
			c("move", catalog.Reversible, "", []catalog.Slot{{Name: "room", Schema: text(), Required: true, Grounding: "room"}}, "area_id", "room_name"),
			c("purify", catalog.Reversible, "context.air == 1", []catalog.Slot{{Name: "area_id", Schema: text(), Required: true}}, "area_id"),
			c("clean", catalog.Reversible, "", []catalog.Slot{{Name: "arrival", Schema: catalog.SlotSchema{Type: "object"}}, {Name: "note", Schema: text()}}),
			asModel(c("unlock", catalog.Persistent, "context.door == 1", nil)),
			c("dock", catalog.Reversible, "", nil),
		},
		SafeReturn: &catalog.SafeReturn{CapabilityID: "dock", OperationID: "start"},
		Reasons: []catalog.Reason{
			{Code: "MOVE_POLICY_NOT_ALLOWED", Default: "cancel", RequiresDecision: true, Say: catalog.Text{Ko: "이동이 허용되지 않아요.", En: "Moving is not allowed."}},
			{Code: "TRY_AGAIN", Default: "retry"},
			{Code: "ASK_ME", Default: "ask"},
			{Code: "PASSES", Default: "ask", Recovery: catalog.Recovery{Action: "retry", MaxAttempts: 2, BackoffMs: 10_000}},
			{Code: "WAIT_FOR_IT", Default: "ask", Recovery: catalog.Recovery{Action: "wait", MaxAttempts: 3, BackoffMs: 20_000}},
			{Code: "GO_HOME", Default: "return", RequiresDecision: true, Say: catalog.Text{Ko: "배터리가 부족해요.", En: "Low battery."}},
		},
		Sentences: map[string]catalog.Text{
			"done": {Ko: "{steps} 다 했어요.", En: "{steps} All done."}, "done_unsure": {Ko: "{steps} 확인은 못 했어요.", En: "{steps} Not all confirmed."},
			"partly": {Ko: "{steps} 나머지는 못 했어요. {reason}", En: "{steps} Not the rest. {reason}"},
			"failed": {Ko: "{steps} {reason}", En: "{steps} {reason}"}, "cancelled": {Ko: "취소했어요. {steps} {rest}", En: "Cancelled. {steps} {rest}"},
			"cancelled_unbegun": {Ko: "그냥 취소했어요.", En: "Cancelled, nothing begun."}, "cancelled_late": {Ko: "이미 끝났어요. {steps}", En: "Too late. {steps}"},
			"cancelled_unresolved": {Ko: "취소했지만 몰라요. {steps} {rest}", En: "Cancelled, not sure. {steps} {rest}"},
			"unresolved":           {Ko: "확인하지 못했어요. {steps} {rest}", En: "I could not find out. {steps} {rest}"},
			"not_confirmed":        {Ko: "{steps} 하지 않았어요.", En: "{steps} I did not do it."},
			"not_as_expected":      {Ko: "{steps} 그런데 달라요.", En: "{steps} It is not as expected."},
			"done_otherwise":       {Ko: "{steps} 다르게 했어요.", En: "{steps} Done otherwise."}, "returned": {Ko: "{steps} 돌아왔어요. {reason}", En: "{steps} Came back. {reason}"},
			"step_named": {Ko: "{what}", En: "{what}"}, "rest_stopped": {Ko: "멈춤: {what}", En: "Stopped: {what}."}, "rest_unstarted": {Ko: "안 함: {what}", En: "Not begun: {what}."},
			"rest_unknown": {Ko: "모름: {what}", En: "Unknown: {what}."}, "step_contradicted": {Ko: "아님: {what}", En: "Not so: {what}."},
		},
	}
}

func spec(id, capability string, depends []string, in map[string]string) plan.StepSpec {
	s := plan.StepSpec{ID: id, Action: plan.Action{CapabilityID: capability, OperationID: "start"}, DependsOn: depends, InputFrom: in}
	if capability == "move" {
		s.Action.Arguments = map[string]any{"room": "안방"}
	}
	return s
}

// threeSteps is the demo's shape: move, purify with the room bound from the move, dock.
func threeSteps() *plan.Document {
	move := spec("move", "move", nil, nil)
	move.OutputKey = "arrival"
	return &plan.Document{Steps: []plan.StepSpec{move,
		spec("purify", "purify", []string{"move"}, map[string]string{"area_id": "arrival.result.area_id"}),
		spec("dock", "dock", []string{"purify"}, nil)}}
}

// sim is one plan, its shell and its device.
type sim struct {
	t      tb
	state  plan.State
	now    int64
	out    []plan.Command // requests not yet answered
	told   []string       // what was said
	asked  []plan.Question
	finish *plan.Outcome
	device *model
	events []plan.Event // reported, not yet delivered
	// submits counts Submit commands by operation id.
	submits map[string]int
	order   []string // steps in the order of their first submit
	sentAt  map[string]int64
	// delayed are submits whose sender gave up on them, but not the network.
	delayed []delayed
	// answers are all there ever were, for a network that says things twice.
	answers []plan.Input
	decides int
	all     []plan.Command
	raw     []byte // the state as it was stored last
	// retention is what the device declares; hostile says that somebody lies, so that only the machine's own manners count.
	retention int64
	// leases says that the test answers for the lease itself; released is what came back.
	leases   bool
	looks    bool // and for the look at the device that comes before a decision
	released *plan.LeaseRelease
	hostile  bool
	light    bool           // the state is not stored at each step: other tests hold that it can be, and a whole catalog is large
	home     map[string]any // the context that Prepare sees; untold says why it cannot be seen
	untold   *plan.Report
}

type delayed struct {
	submit plan.Submit
	until  int64 // its time to live is over
}

type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newSim(t tb, doc *plan.Document) *sim { return newDecidedSim(t, doc, "") }

// newDecidedSim is a plan that has a decider.
func newDecidedSim(t tb, doc *plan.Document, decider string) *sim {
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc,
		Slice: testSlice(), Decider: decider})
	s.take(plan.Begin{})
	return s
}

func (s *sim) take(in plan.Input) {
	s.t.Helper()
	before := s.state
	next, commands := plan.Step(s.state, s.now, in)
	s.state = s.stored(next)
	for _, c := range commands {
		s.command(c)
	}
	s.all = append(s.all, commands...)
	if s.hostile {
		s.checkWaits()
	} else {
		s.checkLaws(before, in, commands)
	}
	if i := request[plan.FetchContext](s); i >= 0 && s.state.Looking && !s.looks {
		s.answer(i, fine)
	}
	if i := request[plan.RequestLease](s); i >= 0 && !s.leases {
		s.out = slices.Delete(s.out, i, i+1)
		s.take(plan.LeaseAnswer{Granted: true})
	}
}

// stored is the state as it comes back from where it was kept: nothing may hang on what JSON does not keep.
func (s *sim) stored(state plan.State) plan.State {
	if s.light {
		return state
	}
	raw, err := json.Marshal(state)
	if err != nil {
		s.t.Fatalf("the state is not JSON: %v", err)
	}
	s.raw = raw
	var back plan.State
	if err := json.Unmarshal(raw, &back); err != nil {
		s.t.Fatalf("the state does not come back from JSON: %v", err)
	}
	return back
}

func (s *sim) command(c plan.Command) {
	if s.finish != nil {
		s.t.Fatalf("command %T after Finish (law 15)", c)
	}
	switch c := c.(type) {
	case plan.Finish:
		s.finish = &c.Outcome
	case plan.Say:
		s.told = append(s.told, c.Text)
	case plan.Ask:
		s.asked = append(s.asked, c.Question)
	case plan.SetDeadline, plan.WithdrawQuestion:
	case plan.ReleaseLease:
		s.released = &c.Release
	case plan.StopAwaiting:
		s.out = slices.DeleteFunc(s.out, func(c plan.Command) bool { _, ok := c.(plan.AwaitDevice); return ok })
	case plan.Submit:
		if s.submits[c.OperationID] == 0 {
			s.order = append(s.order, c.StepID)
		}
		s.submits[c.OperationID]++
		if s.sentAt == nil {
			s.sentAt = map[string]int64{}
		}
		s.sentAt[c.OperationID] = s.now
		s.out = append(s.out, c)
	case plan.Decide:
		s.decides++
		s.out = append(s.out, c)
	default:
		s.out = append(s.out, c)
	}
}

func (s *sim) route() plan.Route {
	return plan.Route{GatewayID: "g", TaskQueue: "deviceio@g", ConnectionEpoch: s.device.connection, BootEpoch: s.device.epoch,
		StoreID: s.device.store, RetentionMs: s.retention, Profile: plan.Profile{Status: true, Dedupe: true, Outbox: true}}
}

// how says what becomes of a request on its way.
type how int

const (
	fine    how = iota
	ackLost     // it arrived, its answer did not
	notSent     // surely never sent
	vanish      // perhaps sent; it did not arrive
	late        // perhaps sent; it arrives when its sender has long given it up
)

// answer takes the first request out of line and lets the device and the network answer it.
func (s *sim) answer(i int, h how) {
	s.t.Helper()
	c := s.out[i]
	s.out = slices.Delete(s.out, i, i+1)
	up := s.device.online
	if !up && h != vanish && h != late {
		h = notSent
	}
	in := s.reply(c, h)
	s.answers = append(s.answers, in)
	s.take(in)
}

// arrive lets a delayed submit reach the device, if it is not too old by then.
func (s *sim) arrive(i int) {
	d := s.delayed[i]
	s.delayed = slices.Delete(s.delayed, i, i+1)
	if s.now < d.until {
		s.device.submit(d.submit)
		s.collect()
	}
}

func (s *sim) reply(c plan.Command, h how) plan.Input {
	d := s.device
	switch c := c.(type) {
	case plan.AwaitDevice:
		return plan.DeviceFound{Route: s.route()}
	case plan.Submit:
		if h == notSent || (h != vanish && c.Route.ConnectionEpoch != d.connection) {
			return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUndelivered, ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		if report := s.changed(c.Expect); report != nil {
			return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Unasked: true, Report: report}
		}
		if h == late {
			s.delayed = append(s.delayed, delayed{submit: c, until: s.sentAt[c.OperationID] + c.TTLMs}) // whoever holds it subtracts the time held
		}
		if h == vanish || h == late {
			return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUnknown}
		}
		answer := d.submit(c)
		s.collect()
		if h == ackLost {
			return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUnknown}
		}
		return answer
	case plan.QueryStatus:
		if h != fine {
			return plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnreachable, ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		return d.status(c.OperationID)
	case plan.CancelTask:
		if h == notSent || h == vanish || h == late {
			return plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelUnreachable, ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		answer := d.cancel(c.OperationID)
		s.collect()
		if h == ackLost {
			return plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelUnreachable, ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		return answer
	case plan.Prepare:
		return s.prepared(c, h)
	case plan.Verify:
		if h == notSent || c.Route.ConnectionEpoch != d.connection {
			return plan.VerifiedResult{OperationID: c.OperationID, Unseen: true, ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		if h != fine {
			return plan.VerifiedResult{OperationID: c.OperationID, Verdict: plan.Unverified}
		}
		return plan.VerifiedResult{OperationID: c.OperationID, Verdict: d.verdict, VerifiedBy: "context"}
	case plan.FetchContext:
		return plan.ContextFetched{Context: map[string]any{}, ConnectionEpoch: c.Route.ConnectionEpoch}
	case plan.RequestLease:
		return plan.LeaseAnswer{Granted: true}
	case plan.MakePlan:
		return plan.Planned{Document: threeSteps(), Slice: testSlice()}
	case plan.Decide:
		return plan.Decided{}
	}
	s.t.Fatalf("no answer for %T", c)
	return nil
}

func (s *sim) objects(c plan.Prepare) ([]plan.Target, *plan.Report) {
	found, untold := plan.Objects(s.home, c.Object, c.Named, c.Arguments, c.Locale)
	if untold != nil {
		return nil, &plan.Report{Code: plan.CodeStateUnknown, Detail: untold.Error()}
	}
	return found, nil
}

// collect moves what the device reported into the network.
func (s *sim) collect() {
	s.events = append(s.events, s.device.outbox...)
	s.device.outbox = nil
}

// work lets the device work on what it runs, and collects its reports.
func (s *sim) work() {
	s.device.work()
	s.collect()
}

func (s *sim) deliver(i int, keep bool) {
	s.t.Helper()
	ev := s.events[i]
	if !keep {
		s.events = slices.Delete(s.events, i, i+1)
	}
	s.take(ev)
}

// tick lets time pass, and wakes the plan if it asked for it.
func (s *sim) tick(ms int64) {
	s.t.Helper()
	s.now += ms
	if s.state.Wake > 0 && s.now >= s.state.Wake {
		s.take(plan.DeadlinePassed{})
	}
}

// settle lets the rest go well: the device is online, every request answered, every report delivered, time passing.
func (s *sim) settle() plan.Outcome {
	s.t.Helper()
	if !s.device.online {
		s.device.connect()
	}
	for range 2000 {
		switch {
		case s.finish != nil:
			return *s.finish
		case len(s.out) > 0:
			s.answer(0, fine)
		case len(s.events) > 0:
			s.deliver(0, false)
		case s.device.busy():
			s.work()
		default:
			s.tick(max(s.state.Wake-s.now, 1000))
		}
	}
	s.t.Fatalf("the plan does not end (law 18): %s", describe(s.state))
	return plan.Outcome{}
}

func describe(s plan.State) string {
	v := s.View()
	line := fmt.Sprintf("%s waiting for %q", v.State, v.Plan.WaitingFor)
	for _, st := range v.Steps {
		line += fmt.Sprintf("; %s %s (%s)", st.ID, st.State, st.Why)
	}
	return line
}

func (s *sim) phase(step string) plan.StepPhase {
	for _, st := range s.state.Steps {
		if st.ID == step {
			return st.Phase
		}
	}
	return ""
}

// request returns the index of the first request of type T that is out, or -1.
func request[T plan.Command](s *sim) int {
	return slices.IndexFunc(s.out, func(c plan.Command) bool { _, ok := c.(T); return ok })
}

// until lets everything go well until the condition holds.
func (s *sim) until(what string, holds func() bool) {
	s.t.Helper()
	for range 500 {
		switch {
		case holds():
			return
		case len(s.out) > 0:
			s.answer(0, fine)
		case len(s.events) > 0:
			s.deliver(0, false)
		case s.device.busy():
			s.work()
		default:
			s.tick(1000)
		}
	}
	s.t.Fatalf("never: %s; %s", what, describe(s.state))
}

var _ tb = (*testing.T)(nil)
