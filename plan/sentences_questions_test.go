package plan_test

import (
	"fmt"
	"slices"
	"strings"

	"errand/catalog"
	"errand/plan"
)

// questions brings about each kind of question, with each set of choices.
func (g *sayings) questions() {
	g.selections()
	g.decisions()
	g.late()
	g.untold()
}

func (g *sayings) ask(situation string, q plan.Question) {
	g.add(fmt.Sprintf("%s (%s: %s)", situation, q.Kind, strings.Join(q.Choices, ", ")), q.Text)
}

func (g *sayings) selections() {
	two := g.speaking(g.deletion(map[string]any{"time": "07:00"}), nil)
	two.take(plan.Begin{})
	g.ask("which of two", two.asks("select"))

	many := g.speaking(g.deletion(nil), nil)
	many.home = manyAlarms(8)
	many.take(plan.Begin{})
	g.ask("which of eight", many.asks("select"))

	same := g.speaking(g.deletion(nil), nil)
	same.home = map[string]any{"alarms": map[string]any{"items": []any{alarm("alarm-1", "07:00", "", "1"), alarm("alarm-2", "07:00", "", "1")}}}
	same.take(plan.Begin{})
	g.ask("which of two that have no name", same.asks("select"))

	again := g.speaking(g.deletion(map[string]any{"time": "07:00"}), nil)
	again.take(plan.Begin{})
	again.asks("select")
	again.says("alarm-2")
	again.home = map[string]any{"alarms": map[string]any{"items": []any{alarm("alarm-1", "07:00", g.pick("출근", "work"), "1"), alarm("alarm-2", "07:00", g.pick("운동", "gym"), "2")}}}
	again.asks("confirm")
	again.says("yes")
	g.ask("the chosen one has changed", again.asks("select"))

	// A capability of somebody's own, without a question of its own.
	plain := g.speaking(g.deletion(map[string]any{"label": g.pick("출근", "work")}), nil)
	i := slices.IndexFunc(plain.state.Start.Slice.Capabilities, func(c catalog.Capability) bool { return c.ID == "alarm_delete" })
	say := map[string]catalog.Text{}
	for name, t := range plain.state.Start.Slice.Capabilities[i].Say {
		if name != "confirm" {
			say[name] = t
		}
	}
	plain.state.Start.Slice.Capabilities[i].Say = say
	plain.take(plan.Begin{})
	g.ask("consent to what has no words for it", plain.asks("confirm"))
}

func (g *sayings) decisions() {
	for _, c := range []struct {
		situation, step, code string
		optional, blocked     bool
	}{
		{"it failed, and may be tried again", "move", "STUCK", false, false},
		{"it failed, may be tried again, and may be left out", "move", "STUCK", true, false},
		{"it is blocked", "move", "PATH_BLOCKED", false, true},
	} {
		s := g.speaking(g.rounds(), nil)
		s.state.Start.Document.Steps[0].Optional = c.optional
		s.take(plan.Begin{})
		if c.blocked {
			s.until("running", func() bool { return s.phase(c.step) == plan.StepRunning })
			s.device.block(&plan.Report{Code: c.code, RequiresDecision: true})
			s.collect()
		} else {
			s.device.fail[c.step] = &plan.Report{Code: c.code, RequiresDecision: true}
		}
		g.ask(c.situation, s.asks("decision"))
	}
	for _, optional := range []bool{false, true} { // the move told no room, so that nothing can be tried again
		s := g.speaking(g.rounds(), func(start *plan.Start) { start.Decider = "model" })
		s.device.result = map[string]any{}
		s.state.Start.Document.Steps[1].Optional = optional
		s.take(plan.Begin{})
		s.until("a decision", func() bool { return request[plan.Decide](s) >= 0 })
		s.out = nil
		s.take(plan.Decided{Decision: plan.DecideAsk})
		g.ask(map[bool]string{false: "a binding failed", true: "a binding failed, and the step may be left out"}[optional], s.asks("decision"))
	}
	s := g.speaking(g.rounds(), func(start *plan.Start) { start.Decider = "model" })
	s.take(plan.Begin{})
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Observation{DeviceID: testDevice, Kind: "toy_on_floor", RequiresDecision: true})
	s.until("a decision", func() bool { return request[plan.Decide](s) >= 0 })
	s.out = nil
	s.take(plan.Decided{Decision: plan.DecideAsk})
	g.ask("something was seen", s.asks("decision"))
}

func (g *sayings) late() {
	s := g.speaking(g.rounds(), nil)
	s.take(plan.Begin{})
	s.until("moved", func() bool { return s.phase("move") == plan.StepCompleted && request[plan.Submit](s) >= 0 })
	s.device.online = false
	s.answer(request[plan.Submit](s), notSent)
	s.now += 16 * 60_000
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	g.ask("the device was away for long", s.asks("proceed_late"))
}

func (g *sayings) untold() {
	c, _ := everything().Capability("contacts_add")
	s := g.speaking(&plan.Document{Steps: []plan.StepSpec{step("act", c, g.arguments(c, true))}}, nil)
	i := slices.IndexFunc(s.state.Start.Slice.Capabilities, func(c catalog.Capability) bool { return c.ID == "contacts_add" })
	s.state.Start.Slice.Capabilities[i].ReadBack = ""
	s.take(plan.Begin{})
	s.found(1)
	s.until("sent", func() bool { return request[plan.Submit](s) >= 0 || s.state.Question != nil })
	submit, _ := s.out[request[plan.Submit](s)].(plan.Submit)
	s.out = nil
	s.take(plan.Submitted{OperationID: submit.OperationID, Delivery: plan.DeliveryAccepted, TaskID: "i"})
	s.take(plan.DeviceChange{Gone: 1})
	s.found(2)
	for range 20 {
		if s.state.Question != nil {
			break
		}
		if i := request[plan.QueryStatus](s); i >= 0 {
			q, _ := s.out[i].(plan.QueryStatus)
			s.out = slices.Delete(s.out, i, i+1)
			s.take(plan.StatusReported{OperationID: q.OperationID, Finding: plan.StatusForgotten})
			continue
		}
		s.tick(30_000)
	}
	if s.state.Question == nil {
		s.t.Fatalf("asks nothing: %s", describe(s.state))
	}
	g.ask("nobody will ever tell", *s.state.Question)
}
