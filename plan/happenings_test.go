package plan_test

import (
	"slices"

	"pgregory.net/rapid"

	"errand/plan"
)

// happenings are the things that can happen to a plan in the simulated world, each by lot.
func happenings(s *sim) map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"answer": func(t *rapid.T) {
			if len(s.out) == 0 {
				t.Skip("nothing is out")
			}
			i := rapid.IntRange(0, len(s.out)-1).Draw(t, "which")
			if _, waits := s.out[i].(plan.AwaitDevice); waits && !s.device.online {
				t.Skip("the device is away")
			}
			s.answer(i, how(rapid.IntRange(int(fine), int(late)).Draw(t, "how")))
		},
		"decides": func(t *rapid.T) {
			if i := request[plan.Decide](s); i >= 0 {
				s.out = slices.Delete(s.out, i, i+1)
				s.take(plan.Decided{Decision: rapid.SampledFrom(decisions).Draw(t, "decision"), LLMCalls: 1, Steps: proposal(t)})
			}
		},
		"arrives": func(t *rapid.T) {
			if len(s.delayed) == 0 {
				t.Skip("no submit is under way")
			}
			s.arrive(rapid.IntRange(0, len(s.delayed)-1).Draw(t, "which"))
		},
		"again": func(t *rapid.T) {
			if len(s.answers) == 0 || s.finish != nil {
				t.Skip("nothing was answered")
			}
			if in := rapid.SampledFrom(s.answers).Draw(t, "old"); !s.awaits(in) {
				s.take(in)
			}
		},
		"blocks": func(t *rapid.T) {
			code := rapid.SampledFrom([]string{"TRY_AGAIN", "ASK_ME", "NEVER_HEARD_OF", "PASSES", "WAIT_FOR_IT", "GO_HOME"}).Draw(t, "code")
			s.device.block(&plan.Report{Code: code, RequiresDecision: rapid.Bool().Draw(t, "decide")})
			s.collect()
		},
		"wipe": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				s.device.wipe()
				s.delayed = nil // with its memory went its tombstones: nothing could stop these
			}
		},
		"long":       func(t *rapid.T) { s.tick(rapid.Int64Range(1, 30).Draw(t, "minutes") * 60_000) },
		"steps back": func(t *rapid.T) { s.now -= rapid.Int64Range(1, 5_000).Draw(t, "ms") },
		"link": func(t *rapid.T) {
			route := s.route()
			if s.finish == nil {
				s.take(rapid.SampledFrom([]plan.DeviceChange{{Route: &route}, {Gone: route.ConnectionEpoch}, {}}).Draw(t, "change"))
			}
		},
		"amend": func(t *rapid.T) {
			id := rapid.SampledFrom([]string{"more", "most", "move"}).Draw(t, "id")
			s.take(plan.Amend{By: "kim", Steps: []plan.StepSpec{spec(id, rapid.SampledFrom([]string{"dock", "nosuch"}).Draw(t, "capability"), []string{"move"}, nil)}})
		},
		"follow up": func(*rapid.T) { s.take(plan.FollowUp{Text: "again", By: "kim"}) },
		"withdraw": func(t *rapid.T) {
			if rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
				s.take(plan.CancelStep{By: "kim", StepID: rapid.SampledFrom([]string{"move", "purify", "dock", "nosuch"}).Draw(t, "step")})
			}
		},
		"doubt": func(t *rapid.T) {
			id := rapid.SampledFrom([]string{"p-1/move/1", "p-1/purify/1", "p-1/move/2"}).Draw(t, "operation")
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: id})
		},
		"deliver": func(t *rapid.T) {
			if len(s.events) == 0 || s.finish != nil {
				t.Skip("no event is on its way")
			}
			s.deliver(rapid.IntRange(0, len(s.events)-1).Draw(t, "which"), rapid.Bool().Draw(t, "again"))
		},
		"work":   func(*rapid.T) { s.work() },
		"tick":   func(t *rapid.T) { s.tick(rapid.Int64Range(1, 40_000).Draw(t, "ms")) },
		"jump":   func(*rapid.T) { s.tick(max(s.state.Wake-s.now, 0)) },
		"away":   func(*rapid.T) { s.device.online = false },
		"back":   func(*rapid.T) { s.device.connect() },
		"reboot": func(*rapid.T) { s.device.reboot() },
		"fails": func(t *rapid.T) {
			code := rapid.SampledFrom([]string{"TRY_AGAIN", "MOVE_POLICY_NOT_ALLOWED", "ASK_ME", "NEVER_HEARD_OF", "PASSES", "WAIT_FOR_IT", "GO_HOME"}).Draw(t, "code")
			s.device.fail[rapid.SampledFrom([]string{"move", "purify", "dock"}).Draw(t, "step")] = &plan.Report{Code: code}
		},
		"refuses": func(*rapid.T) { s.device.refuse = &plan.Report{Code: "TRY_AGAIN"} },
		"recovers": func(*rapid.T) {
			clear(s.device.fail)
			s.device.refuse = nil
		},
		"stubborn": func(t *rapid.T) { s.device.stubborn = rapid.Bool().Draw(t, "stubborn") },
		"noise":    func(t *rapid.T) { s.take(noise(t)) },
		"pause":    func(*rapid.T) { s.take(plan.Pause{Token: "x", By: "kim"}) },
		"resume":   func(*rapid.T) { s.take(plan.Resume{Token: "x", By: "kim"}) },
		"answered": func(t *rapid.T) {
			if q := s.state.Question; q != nil {
				s.take(plan.Answer{QuestionID: q.ID, By: "kim", Choice: rapid.SampledFrom(q.Choices).Draw(t, "choice")})
			}
		},
		"cancel": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				s.take(plan.CancelRequest{By: "kim"})
			}
		},
	}
}
