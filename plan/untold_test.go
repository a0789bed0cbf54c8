package plan_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// onNode is a plan with one step, a command of a plain node, which was sent and taken.
func onNode(t *testing.T, change func(*catalog.Capability)) *sim {
	t.Helper()
	slice := testSlice()
	node := catalog.Capability{ID: "node", Operations: []string{"start"}, NodeCommand: "x.do", TaskMethod: "x.do", Enabled: true,
		Impact: catalog.Persistent, Confirm: &catalog.Confirm{Policy: catalog.ConfirmNever}, Slots: []catalog.Slot{{Name: "name", Schema: text()}}, Timeouts: catalog.Timeouts{QueueMs: 5_000, RunMs: 7_000},
		ResultContract: catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: "id", Schema: text()}}},
		Title:          catalog.Text{Ko: "일", En: "The thing"}}
	if change != nil {
		change(&node)
	}
	slice.Capabilities = append(slice.Capabilities, node, catalog.Capability{ID: "look", NodeCommand: "x.look", TaskMethod: "x.look", Enabled: true, Impact: catalog.ReadOnly})
	slice.Sentences["ask_untold"] = catalog.Text{En: "Nobody knows: {what}?"}
	doc := &plan.Document{Steps: []plan.StepSpec{spec("a", "node", nil, nil)}}
	doc.Steps[0].Action.Arguments = map[string]any{"name": "kim"}
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, hostile: true}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: slice})
	s.take(plan.Begin{})
	s.found(1)
	s.accept(t, "p-1/a/1")
	return s
}

// found says that the node is connected: it declares nothing.
func (s *sim) found(epoch int64) {
	s.t.Helper()
	if i := request[plan.AwaitDevice](s); i >= 0 {
		s.out = append(s.out[:i:i], s.out[i+1:]...)
	}
	s.take(plan.DeviceFound{Route: plan.Route{GatewayID: "g", TaskQueue: "deviceio@g", ConnectionEpoch: epoch, BootEpoch: epoch}})
}

// accept takes the submit that is out, and says that it was written to the node's socket.
func (s *sim) accept(t *testing.T, operation string) plan.Submit {
	t.Helper()
	i := request[plan.Submit](s)
	if i < 0 {
		t.Fatalf("%s is not sent: %s", operation, describe(s.state))
	}
	c, _ := s.out[i].(plan.Submit)
	s.out = append(s.out[:i:i], s.out[i+1:]...)
	if c.OperationID != operation || c.NodeCommand != "x.do" {
		t.Fatalf("sent %s by %q, want %s", c.OperationID, c.NodeCommand, operation)
	}
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryAccepted, TaskID: "i"})
	return c
}

// lost cuts the node off and lets it come back; the gateway is asked about the operation, and says what is given.
func (s *sim) lost(t *testing.T, finding plan.Finding) plan.QueryStatus {
	t.Helper()
	was := s.state.Device.Route.ConnectionEpoch
	s.take(plan.DeviceChange{Gone: was})
	if s.phase("a") != plan.StepUnknown {
		t.Fatalf("a lost node's step is %s, want unknown", s.phase("a"))
	}
	s.found(was + 1)
	i := request[plan.QueryStatus](s)
	if i < 0 {
		t.Fatalf("nobody is asked first: %s", describe(s.state))
	}
	c, _ := s.out[i].(plan.QueryStatus)
	s.out = append(s.out[:i:i], s.out[i+1:]...)
	s.take(plan.StatusReported{OperationID: c.OperationID, Finding: finding, ConnectionEpoch: was + 1})
	return c
}

// Law 9: the end of the old connection may be told to nobody, as when its gateway died or a newer one was quicker.
func TestLaw09ANewConnectionOfANodeEndsWhatItDidOverTheOld(t *testing.T) {
	s := onNode(t, nil)
	route := *s.state.Device.Route
	route.ConnectionEpoch = 2
	s.take(plan.DeviceChange{Route: &route})
	if s.phase("a") != plan.StepUnknown || request[plan.QueryStatus](s) < 0 {
		t.Errorf("%s, want it to be asked about", describe(s.state))
	}
}

func completed(operation string) plan.Event {
	return plan.Event{EventID: "invoke-i", DeviceID: testDevice, Epoch: 1, Seq: 1, Name: plan.EventCompleted, OperationID: operation, Result: map[string]any{"id": "7", "secret": "raw"}}
}

func TestLaw09ANodesResultIsItsCompletion(t *testing.T) {
	s := onNode(t, nil)
	s.take(completed("p-1/a/1"))
	if s.finish == nil || s.finish.State != plan.Completed || len(s.finish.Steps[0].Result) != 1 {
		t.Errorf("%+v, want completed with the one field that may leave it", s.finish)
	}
}

func TestLaw11WhatMayBeRepeatedIsRepeatedUnderItsOwnID(t *testing.T) {
	for name, change := range map[string]func(*catalog.Capability){
		"read_only":  func(c *catalog.Capability) { c.Impact = catalog.ReadOnly },
		"idempotent": func(c *catalog.Capability) { c.Idempotent = true },
	} {
		s := onNode(t, change)
		s.lost(t, plan.StatusForgotten)
		if request[plan.Submit](s) >= 0 {
			t.Errorf("%s: sent again at once", name)
		}
		s.tick(3_000)
		if c := s.accept(t, "p-1/a/1"); !c.Again {
			t.Errorf("%s: it does not say that it was sent before", name)
		}
		s.take(completed("p-1/a/1"))
		if s.finish == nil || s.finish.State != plan.Completed {
			t.Errorf("%s: %s", name, describe(s.state))
		}
	}
}

func TestLaw13RepeatingIsBounded(t *testing.T) {
	s := onNode(t, func(c *catalog.Capability) { c.Idempotent = true })
	for range 2 {
		s.lost(t, plan.StatusForgotten)
		s.tick(60_000)
		s.accept(t, "p-1/a/1")
	}
	s.lost(t, plan.StatusForgotten)
	s.tick(60_000)
	if request[plan.Submit](s) >= 0 || len(s.asked) != 1 {
		t.Errorf("sent %d times, asked %d", s.submits["p-1/a/1"], len(s.asked))
	}
}

// An unresolved operation of a node is never sent again by itself: a person declares it dead, and that is on record.
func TestLaw11APersonDeclaresAnUnknownOperationDead(t *testing.T) {
	s := onNode(t, nil)
	s.lost(t, plan.StatusForgotten)
	s.tick(1_000)
	if request[plan.Submit](s) >= 0 || len(s.asked) != 1 || s.asked[0].Kind != "declare_dead" || s.asked[0].Text != "Nobody knows: The thing?" {
		t.Fatalf("asked %+v; %s", s.asked, describe(s.state))
	}
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "retry", By: "kim"})
	s.accept(t, "p-1/a/2")
	var record []string
	for _, e := range s.state.Journal {
		record = append(record, e.Text)
	}
	if all := strings.Join(record, "\n"); !strings.Contains(all, "answered by kim: retry") || !strings.Contains(all, "p-1/a/1 is declared dead") {
		t.Errorf("on record is\n%s", all)
	}
	s.take(completed("p-1/a/2"))
	if s.finish == nil || s.finish.State != plan.Completed {
		t.Errorf("%s", describe(s.state))
	}
}

func TestLaw18NoAnswerAboutAnUnknownOperationEndsUnresolved(t *testing.T) {
	for name, answer := range map[string]string{"stop": "stop", "nothing": ""} {
		s := onNode(t, nil)
		s.lost(t, plan.StatusForgotten)
		if answer == "" {
			s.tick(3 * 60_000)
		} else {
			s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: answer, By: "kim"})
		}
		if s.finish == nil || s.finish.State != plan.Unresolved || s.finish.Steps[0].Phase != plan.StepUnknown {
			t.Errorf("%s: %+v; %s", name, s.finish, describe(s.state))
		}
	}
}

// Law 10: its result was read before the socket broke, and reaches the plan while a person is asked.
func TestLaw10ALateResultWithdrawsTheQuestion(t *testing.T) {
	s := onNode(t, nil)
	s.lost(t, plan.StatusForgotten)
	if s.state.Question == nil {
		t.Fatal("nobody is asked")
	}
	s.take(completed("p-1/a/1"))
	if s.state.Question != nil || s.finish == nil || s.finish.State != plan.Completed {
		t.Errorf("%s", describe(s.state))
	}
}

func TestLaw09WhatWasReadBackSettlesIt(t *testing.T) {
	readable := func(c *catalog.Capability) {
		c.ReadBack, c.ReadBackWith, c.ReadBackShows = "look", map[string]string{"query": "name"}, "result.there"
	}
	s := onNode(t, readable)
	c := s.lost(t, plan.StatusNeverRan)
	if c.ReadBack == nil || c.ReadBack.NodeCommand != "x.look" || c.ReadBack.Params["query"] != "kim" {
		t.Fatalf("read back by %+v", c.ReadBack)
	}
	s.tick(3_000)
	s.accept(t, "p-1/a/1")
	if len(s.asked) != 0 {
		t.Errorf("asked about what was seen: %+v", s.asked)
	}
}

// Law 15: what was cancelled and nobody will tell of is reported unknown; what only reads left nothing behind.
func TestLaw15ACancelledCommandIsReportedAsWhatIsKnown(t *testing.T) {
	for impact, want := range map[catalog.Impact]plan.Phase{catalog.ReadOnly: plan.Cancelled, catalog.Persistent: plan.Unresolved} {
		s := onNode(t, func(c *catalog.Capability) { c.Impact = impact })
		s.take(plan.CancelRequest{By: "kim"})
		i := request[plan.CancelTask](s)
		if i < 0 {
			t.Fatalf("%s: the node is not told to stop", impact)
		}
		c, _ := s.out[i].(plan.CancelTask)
		if c.NodeCommand != "x.do" {
			t.Errorf("%s: the cancel is for %q", impact, c.NodeCommand)
		}
		s.out = nil
		s.take(plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelStopping})
		s.tick(4_000)
		if request[plan.QueryStatus](s) < 0 {
			t.Fatalf("%s: nobody is asked how it ended", impact)
		}
		s.take(plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusForgotten})
		if s.finish == nil || s.finish.State != want {
			t.Errorf("%s: ended %+v, want %s", impact, s.finish, want)
		}
	}
}
