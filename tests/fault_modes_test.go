package tests

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
)

// faultMode is one way to go wrong. Its script draws where and when.
type faultMode struct {
	name   string
	script func(draw) []robot.Fault
	// want is how a plan ends in spite of it; "" where the lot or the device decides.
	want plan.Phase
	// patience is how long it may take, if not as long as any: shorter to cancel in the middle of it.
	patience time.Duration
}

// draw picks at random.
type draw struct{ *rand.Rand }

// step picks the method of a step of the plan; later one that has a step before it.
func (d draw) step() string {
	return []string{"setMoveTo", "setStationaryPurify", "setReturnToStation"}[d.IntN(3)]
}

func (d draw) later() string { return []string{"setStationaryPurify", "setReturnToStation"}[d.IntN(2)] }

// moment picks how far a task is.
func (d draw) moment() *float64 {
	at := []float64{0, 0.3, 0.5, 0.9}[d.IntN(4)]
	return &at
}

func (d draw) event() string { return []string{"QUEUED", "STARTED", "COMPLETED"}[d.IntN(3)] }

// nonsense picks an answer that no command has.
func (d draw) nonsense() json.RawMessage {
	answers := []string{`null`, `"yes"`, `[]`, `{}`, `7`, `{"accepted":"yes","taskId":7,"case":"done","found":"sure"}`, `{"accepted":true,"taskId":{}}`,
		`{"found":true,"status":"COMPLETED","terminal_event":{}}`, `{"accepted":true,"case":"exploded"}`}
	return json.RawMessage(answers[d.IntN(len(answers))])
}

const hour = int64(3_600_000)

var faultModes = []faultMode{
	// Events.
	{"silent", func(draw) []robot.Fault { return []robot.Fault{mute("")} }, plan.Completed, 75 * time.Second},
	{"silent for a step", func(d draw) []robot.Fault { return []robot.Fault{mute(d.step())} }, plan.Completed, 40 * time.Second},
	{"event lost", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultDropEvent, Method: d.step(), Event: d.event()}}
	}, plan.Completed, 40 * time.Second},
	{"events doubled", func(draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultDuplicateEvent, Times: -1}} }, plan.Completed, 0},
	{"event delayed", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultHoldEvent, Method: d.step(), Event: d.event(), DurationMs: 3000}}
	}, plan.Completed, 0},
	{"events reordered", func(draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultReorderEvent, Event: "QUEUED", Times: -1}, {Kind: robot.FaultReorderEvent, Event: "STARTED", Times: -1}}
	}, plan.Completed, 0},
	{"slow", func(draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultSlow, DelayMs: 1500, Times: -1}} }, plan.Completed, 50 * time.Second},
	{"too slow", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultSlow, Method: d.step(), DelayMs: 12_000, Times: -1}}
	}, "", 0},

	// Answers.
	{"answer lost", func(d draw) []robot.Fault { return []robot.Fault{unacknowledged(d.step())} }, plan.Completed, 0},
	{"answer after the result", func(d draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultDelayAnswer, Method: d.step()}} }, plan.Completed, 0},
	{"answers doubled", func(draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultDoubleAnswer, Times: -1}, {Kind: robot.FaultDoubleAnswer, Command: wire.CommandTaskStatus, Times: -1},
			{Kind: robot.FaultDoubleAnswer, Command: wire.CommandCancelTask, Times: -1}, {Kind: robot.FaultDoubleAnswer, Command: wire.CommandContext, Times: -1}}
	}, plan.Completed, 0},
	{"lying status", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{mute(step), unacknowledged(step), {Kind: robot.FaultLieStatus, Method: step, Times: -1}}
	}, "", 14 * time.Second},
	{"status of no word", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{mute(step), unacknowledged(step), {Kind: robot.FaultLieStatus, Method: step, Status: "DONE-ISH", Times: -1}}
	}, "", 14 * time.Second},
	{"nonsense to submit", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultNonsense, Method: d.step(), Answer: d.nonsense()}}
	}, "", 0},
	{"nonsense to status", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{unacknowledged(step), mute(step), {Kind: robot.FaultNonsense, Command: wire.CommandTaskStatus, Method: step, Answer: d.nonsense(), Times: 2}}
	}, plan.Completed, 40 * time.Second},
	{"nonsense to cancel", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{{Kind: robot.FaultHold, Method: step, At: d.moment()}, {Kind: robot.FaultNonsense, Command: wire.CommandCancelTask, Answer: d.nonsense(), Times: -1}}
	}, "", 3 * time.Second},
	{"nonsense for context", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultNonsense, Command: wire.CommandContext, Answer: d.nonsense(), Times: -1}}
	}, plan.Completed, 40 * time.Second},
	{"submit's answer mixed up", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultMixUp, Command: wire.CommandSubmitTask, Method: d.later()}}
	}, plan.Completed, 0},
	{"status mixed up", func(d draw) []robot.Fault {
		step := d.later()
		return []robot.Fault{unacknowledged(step), mute(step), {Kind: robot.FaultMixUp, Method: step, Times: 2}}
	}, plan.Completed, 40 * time.Second},
	{"cancel mixed up", func(d draw) []robot.Fault {
		step := d.later()
		return []robot.Fault{{Kind: robot.FaultHold, Method: step, At: d.moment()}, {Kind: robot.FaultMixUp, Command: wire.CommandCancelTask, Times: -1}}
	}, "", 4 * time.Second},
	{"refused", func(d draw) []robot.Fault {
		codes := []string{"MOVE_POLICY_NOT_ALLOWED", "PATH_BLOCKED", "BATTERY_LOW", "NEVER_HEARD_OF_IT"}
		return []robot.Fault{{Kind: robot.FaultRefuse, Method: d.step(), ReasonCode: codes[d.IntN(len(codes))]}}
	}, "", 0},

	// Clocks.
	{"clock fast", func(draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultClock, OffsetMs: hour}} }, plan.Completed, 0},
	{"clock slow", func(draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultClock, OffsetMs: -hour}} }, plan.Completed, 0},
	{"clock never set", func(draw) []robot.Fault { return []robot.Fault{neverSet()} }, plan.Completed, 0},
	{"clock steps back", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultClock, OffsetMs: -hour, Method: d.step(), At: d.moment()}}
	}, plan.Completed, 0},
	{"clock steps at an event", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultClock, OffsetMs: []int64{-hour, hour, -90_000}[d.IntN(3)], Method: d.step(), Event: d.event()}}
	}, plan.Completed, 0},

	// Restarts.
	{"crash", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultCrash, Method: d.step(), At: d.moment()}}
	}, plan.Completed, 0},
	{"crash before an event", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultCrash, Method: d.step(), Event: d.event()}}
	}, plan.Completed, 0},
	{"comes back idle", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultDropTask, Method: d.step(), At: d.moment()}}
	}, "", 10 * time.Second},
	{"comes back idle, never acknowledged", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{{Kind: robot.FaultDropTask, Method: step, At: d.moment()}, unacknowledged(step), mute(step)}
	}, "", 0},
	{"memory lost", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultLoseStore, Method: d.step(), At: d.moment()}}
	}, "", 10 * time.Second},
	{"memory lost before an event", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultLoseStore, Method: d.step(), Event: d.event()}}
	}, "", 10 * time.Second},
	{"memory lost with the work done and nothing told", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{{Kind: robot.FaultLoseStore, Method: step, Event: "COMPLETED"}, unacknowledged(step), mute(step)}
	}, plan.Unresolved, 10 * time.Second},
	{"off the air", func(draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultOffline, DurationMs: 4000}} }, plan.Completed, 0},
	{"off the air in the middle", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultOffline, Method: d.step(), At: d.moment(), DurationMs: 4000}}
	}, plan.Completed, 0},
	{"off the air before an event", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultOffline, Method: d.step(), Event: d.event(), DurationMs: 4000}}
	}, plan.Completed, 0},

	// The task itself.
	{"stands still", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultHold, Method: d.step(), At: d.moment()}}
	}, "", 0},
	{"hangs", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultHang, Method: d.step(), At: d.moment()}}
	}, "", 3 * time.Second},
	{"blocked", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultBlock, Method: d.step(), At: d.moment()}}
	}, "", 0},
	{"blocked for a while", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultBlock, Method: d.step(), At: d.moment(), DurationMs: 2000}}
	}, "", 0},
	{"fails", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultFail, Method: d.step(), At: d.moment()}}
	}, "", 0},
	{"boasts", func(d draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultBoast, Method: d.step()}} }, plan.NotAsExpected, 0},
	{"boasts with a clock never set", func(draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultBoast, Method: "setStationaryPurify"}, neverSet()}
	}, plan.NotAsExpected, 0},
	{"deaf", func(d draw) []robot.Fault {
		step := d.step()
		return []robot.Fault{{Kind: robot.FaultHold, Method: step, At: d.moment(), DurationMs: 4000}, {Kind: robot.FaultDeaf, Method: step}}
	}, "", time.Second},
	{"result left out", func(d draw) []robot.Fault { return []robot.Fault{{Kind: robot.FaultOmitResult, Method: d.step()}} }, "", 0},
	{"sensor silent", func(d draw) []robot.Fault {
		return []robot.Fault{{Kind: robot.FaultSilence, Source: []string{"battery", "air_quality"}[d.IntN(2)]}}
	}, plan.Completed, 0},
}

// mute tells nothing of a step, or of any.
func mute(method string) robot.Fault {
	return robot.Fault{Kind: robot.FaultDropEvent, Method: method, Times: -1}
}

// unacknowledged loses the acknowledgement of a step.
func unacknowledged(method string) robot.Fault {
	return robot.Fault{Kind: robot.FaultDropAnswer, Method: method}
}

// neverSet is a clock that began to count at its first start, in 1970.
func neverSet() robot.Fault {
	return robot.Fault{Kind: robot.FaultClock, OffsetMs: 10_000 - time.Now().UnixMilli()}
}
