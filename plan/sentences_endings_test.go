package plan_test

import (
	"fmt"
	"slices"

	"errand/catalog"
	"errand/catalog/load"
	"errand/plan"
)

// rounds is the plan of the demo: move, purify with what the move gave, go back.
func (g *sayings) rounds() *plan.Document {
	whole := everything()
	at := func(id, capability string, arguments map[string]any, after ...string) plan.StepSpec {
		c, _ := whole.Capability(capability)
		spec := step(id, c, arguments)
		spec.DependsOn = after
		return spec
	}
	move := at("move", "move_to_room", map[string]any{"position_name": g.pick("안방", "kitchen")})
	move.OutputKey = "arrival"
	purify := at("purify", "stationary_purify", nil, "move")
	purify.InputFrom = map[string]string{"area_id": "arrival.result.area_id"}
	return &plan.Document{Steps: []plan.StepSpec{move, purify, at("dock", "return_to_station", nil, "purify")}}
}

// deletion is a plan that deletes an alarm.
func (g *sayings) deletion(arguments map[string]any) *plan.Document {
	c, _ := everything().Capability("alarm_delete")
	return &plan.Document{Steps: []plan.StepSpec{step("act", c, arguments)}}
}

// ending is one way in which a plan comes to its end.
type ending struct {
	situation string
	doc       *plan.Document
	start     func(*plan.Start)
	happens   func(*sim)
	react     func(plan.Question) string
}

func failsWith(step, code string) func(*sim) {
	return func(s *sim) { s.device.fail[step] = &plan.Report{Code: code} }
}

// cancelledWhen cancels the plan as soon as the condition holds.
func cancelledWhen(what string, holds func(*sim) bool) func(*sim) {
	return func(s *sim) {
		s.take(plan.Begin{})
		s.until(what, func() bool { return holds(s) })
		s.take(plan.CancelRequest{By: "kim", Source: "api"})
	}
}

func running(step string) func(*sim) bool {
	return func(s *sim) bool { return s.phase(step) == plan.StepRunning }
}

func away(s *sim) { s.device.online, s.device.silent = false, true; s.events = nil }

func none(plan.Question) string { return "" }

func choose(choice string) func(plan.Question) string {
	return func(q plan.Question) string {
		if slices.Contains(q.Choices, choice) {
			return choice
		}
		return yes(q)
	}
}

func (g *sayings) endings() {
	optional := g.rounds()
	optional.Steps[1].Optional = true
	seven := map[string]any{"time": "07:00"}
	one := map[string]any{"label": g.pick("출근", "work")}
	unplanned := func(s *plan.Start) { s.Document, s.Slice, s.Utterance = nil, nil, &plan.Utterance{Text: "?"} }
	for _, e := range []ending{
		{situation: "all is done"},
		{situation: "all is done, and one could not be checked", happens: func(s *sim) { s.device.verdict = plan.Unverified }},
		{situation: "one is left out", doc: optional, happens: failsWith("purify", "TASK_NOT_FOUND")},
		{situation: "the first fails", happens: failsWith("move", "MOVE_POLICY_NOT_ALLOWED")},
		{situation: "the second fails", happens: failsWith("purify", "FILTER_MISSING"), react: yes},
		{situation: "the last fails", happens: failsWith("dock", "TASK_NOT_FOUND")},
		{situation: "a reason that no table has", happens: failsWith("move", "NEVER_HEARD_OF")},
		{situation: "it fails to be as the device says", happens: func(s *sim) { s.device.verdict = plan.Contradicted }},
		{situation: "the battery is low in the middle", happens: func(s *sim) {
			s.device.fail["purify"] = &plan.Report{Code: "BATTERY_LOW", RequiresDecision: true}
		}},
		{situation: "the battery is low, and nobody could check", happens: func(s *sim) {
			s.device.fail["purify"], s.device.verdict = &plan.Report{Code: "BATTERY_LOW", RequiresDecision: true}, plan.Unverified
		}},
		{situation: "stopped by a person where it was blocked", happens: func(s *sim) {
			s.take(plan.Begin{})
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.device.block(&plan.Report{Code: "PATH_BLOCKED", RequiresDecision: true})
			s.collect()
		}, react: yes},
		{situation: "the plan is too old to begin", happens: func(s *sim) { s.now += 10 * 60_000 }},
		{situation: "the device is away until the deadline", happens: func(s *sim) {
			s.take(plan.Begin{})
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			away(s)
		}},
		{situation: "the device is away until the deadline, after the first is done", happens: func(s *sim) {
			s.take(plan.Begin{})
			s.until("purifying", func() bool { return s.phase("purify") == plan.StepRunning })
			away(s)
		}},
		{situation: "emergency stop while it moves", happens: func(s *sim) {
			s.take(plan.Begin{})
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.take(plan.Observation{DeviceID: testDevice, Kind: plan.KindEmergencyStop})
		}},
		{situation: "cancelled before it was planned", start: unplanned, happens: func(s *sim) {
			s.take(plan.Begin{})
			s.take(plan.CancelRequest{By: "kim", Source: "api"})
		}},
		{situation: "planned, and refused by the gate", doc: &plan.Document{Steps: []plan.StepSpec{{ID: "?"}}}},
		{situation: "cancelled before anything began", happens: func(s *sim) {
			s.take(plan.Begin{})
			s.take(plan.CancelRequest{By: "kim", Source: "api"})
		}},
		{situation: "cancelled while the first runs", happens: cancelledWhen("running", running("move"))},
		{situation: "cancelled while the second runs", happens: cancelledWhen("running", running("purify"))},
		{situation: "cancelled, and the last is done before that arrives", happens: func(s *sim) {
			cancelledWhen("running", running("dock"))(s)
			s.work()
		}},
		{situation: "cancelled, and what runs is done before that arrives", happens: func(s *sim) {
			cancelledWhen("running", running("move"))(s)
			s.work()
		}},
		{situation: "cancelled, and the device is away", happens: func(s *sim) {
			cancelledWhen("running", running("purify"))(s)
			away(s)
		}},
		{situation: "cancelled, and what is done is not as the device says", happens: func(s *sim) {
			s.device.verdict = plan.Contradicted
			cancelledWhen("running", running("move"))(s)
			s.work()
		}},
		{situation: "no yes", doc: g.deletion(one), react: choose("no")},
		{situation: "no answer", doc: g.deletion(one), react: none},
		{situation: "none of two", doc: g.deletion(seven), react: choose("none")},
		{situation: "one of two", doc: g.deletion(seven), react: choose("alarm-2")},
		{situation: "no such object", doc: g.deletion(map[string]any{"time": "09:00"})},
		{situation: "too many objects", doc: g.deletion(nil), happens: func(s *sim) { s.home = manyAlarms(9) }},
		{situation: "objects that nobody tells", doc: g.deletion(one), happens: func(s *sim) { s.untold = &plan.Report{Code: plan.CodeStateUnknown} }},
	} {
		if e.doc == nil {
			e.doc = g.rounds()
		}
		if e.react == nil {
			e.react = yes
		}
		s := g.speaking(e.doc, e.start)
		if e.happens != nil {
			e.happens(s)
		}
		s.take(plan.Begin{})
		o := s.runs(e.react)
		g.add(fmt.Sprintf("%s (%s)", e.situation, o.State), o.TTSResponse)
	}
}

func manyAlarms(n int) map[string]any {
	var items []any
	for i := range n {
		items = append(items, alarm(fmt.Sprintf("alarm-%d", i+1), fmt.Sprintf("%02d:00", 6+i), "", "1"))
	}
	return map[string]any{"alarms": map[string]any{"items": items}}
}

// reasons fails the one step of a plan for each.
func (g *sayings) reasons() {
	for _, r := range everything().Reasons {
		doc := g.rounds()
		doc.Steps = doc.Steps[:1]
		s := g.speaking(doc, nil)
		s.device.fail["move"] = &plan.Report{Code: r.Code, RequiresDecision: r.RequiresDecision}
		s.take(plan.Begin{})
		o := s.runs(func(q plan.Question) string {
			g.add(r.Code+", asked", q.Text)
			return yes(q)
		})
		g.add(fmt.Sprintf("%s (%s)", r.Code, o.State), o.TTSResponse)
	}
}

// rendered has every sentence of the catalog's by itself, those of the starter and of planners among them.
func (g *sayings) rendered() {
	sentences := builtin.Sentences
	values := map[string]string{
		"steps": g.pick("안방에 도착했어요.", "I went to the kitchen."), "rest": g.pick("방 청소(거실)는 시작하지 않았어요.", "I did not start this: Clean a room (hall)."),
		"reason": g.pick("배터리가 부족해요.", "My battery is low."), "what": g.pick("방 청소(거실)", "Clean a room (hall)"), "which": g.pick("거실", "hall"),
		"offers": g.pick("방으로 가기, 방 청소하기", "go to a room, clean a room"), "said": g.pick("다락방", "attic"), "known": g.pick("거실, 안방", "hall, kitchen"),
		"choices": g.pick("안방 스탠드, 거실 스탠드", "the light lamp in the kitchen, the light lamp in the hall"),
	}
	for _, name := range sorted(load.PlanSentences()) {
		text := sentences[name].In(g.locale)
		if name == "step_named" {
			values["what"] = g.pick("방 청소", "Clean a room")
		}
		if name == "steer_rest" { // it follows what was said before
			values["said"] = sentences["steer_stopped"].In(g.locale)
		}
		g.add(name, catalog.Render(text, values))
		values["said"], values["what"] = g.pick("다락방", "attic"), g.pick("방 청소(거실)", "Clean a room (hall)")
		if bare := catalog.Render(text, nil); len(catalog.BarePlaces(text)) == 0 && bare != catalog.Render(text, values) {
			g.add(name+", nothing told", bare)
		}
	}
}

func sorted[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
