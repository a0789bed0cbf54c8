package plan

import "errand/catalog/fresh"

// Times the machine lives by, in milliseconds. Those of a task come from the catalog.
const (
	second = int64(1000)
	minute = 60 * second

	defaultDeadline = 60 * minute // the whole plan, from the utterance
	defaultStartBy  = 5 * minute  // the first movement, from the utterance (design §6, old intentions)
	lateAfter       = 15 * minute // a longer wait between steps asks before it moves again
	questionTTL     = 2 * minute  // no answer by then is no
	verifyFor       = 20 * second // from a completion to its verdict
	slack           = 10 * second // on top of a task's own timeouts, before we ask
	stopGrace       = 60 * second // on top of ttl and timeouts, before a stop gives up on the truth
	recheck         = 30 * second // after the device said that a task is alive though it is overdue
	afterCancel     = 3 * second  // from a cancel that was taken to the question how it went
	firstBackoff    = 2 * second  // between questions that brought nothing; doubles
	lastBackoff     = 60 * second
	longest         = 30 * 24 * 60 * minute // of any time given to us: sums of them stay far from overflow
)

// StateVersion is the version of State that this code writes.
const StateVersion = 1

// Outstanding are the commands that stand while nothing else is out: a new run of the plan's workflow gives them again.
func Outstanding(s State) []Command {
	var out []Command
	if s.Device.Awaiting {
		out = append(out, AwaitDevice{DeviceID: s.Start.DeviceID, Newer: s.Device.Refuted})
	}
	if s.Wake > 0 {
		out = append(out, SetDeadline{At: s.Wake})
	}
	return out
}

// machine is one Step at work: a private copy of the state, the time, and the commands so far.
type machine struct {
	s   State
	at  int64
	out []Command
}

// New returns the state of a plan that has not begun. Its first input is Begin.
func New(start Start) State {
	return State{Version: StateVersion, Start: start}
}

// Step takes one input at a time of the cloud's clock (Unix ms) and returns the next state with what is to be done.
// It is total: any input may come in any state, any number of times. The given state is not changed.
func Step(s State, at int64, in Input) (State, []Command) {
	if s.Outcome != nil {
		return s, nil // over: nothing moves after the reported outcome (law 15)
	}
	m := &machine{s: s.clone(), at: max(at, s.At)} // a clock that steps back stands still here
	m.s.At = m.at
	m.take(in)
	if m.s.Begun {
		m.advance()
	}
	m.settle(s)
	return m.s, m.out
}

// take records what an input says. What follows from it is advance's business.
func (m *machine) take(in Input) {
	switch in := in.(type) {
	case Begin:
		m.begin()
	case Planned:
		m.planned(in)
	case ContextFetched:
		m.contextFetched(in)
	case DeviceFound:
		m.deviceFound(in.Route)
	case DeviceChange:
		m.deviceChange(in)
	case Submitted:
		m.submitted(in)
	case Event:
		m.event(in)
	case Doubt:
		m.doubt(in)
	case Performed:
		m.performed(in)
	case StatusReported:
		m.statusReported(in)
	case CancelAnswered:
		m.cancelAnswered(in)
	case Prepared:
		m.prepared(in)
	case VerifiedResult:
		m.verified(in)
	case Decided:
		m.decided(in)
	case Observation:
		m.observed(in)
	case Answer:
		m.answered(in)
	case CancelRequest:
		m.cancelRequested(in)
	case Amend:
		m.amend(in)
	case FollowUp:
		m.followedUp(in)
	case Pause:
		m.pause(in)
	case Resume:
		m.resume(in)
	case CancelStep:
		m.cancelStep(in)
	case Hold:
		m.s.Held = in.On
	case LeaseAnswer:
		m.leaseAnswered(in)
	case DeadlinePassed:
		// Time passes with every input; this one brings nothing else.
	}
}

// advance does what is due: first what time ends, then what is in flight, then decisions, the next step, the close.
func (m *machine) advance() {
	m.expire()
	m.tend()
	m.decide()
	m.followUp()
	m.planNext()
	m.extend()
	m.schedule()
	m.decide() // a binding may have failed just now
	m.askIfDead()
	m.windDown()
	m.reachDevice()
}

func (m *machine) do(c Command) { m.out = append(m.out, c) }

// stopping reports whether the plan is on its way to a close.
func (m *machine) stopping() bool { return m.s.Cancel != nil || m.s.Ending != nil }

func (m *machine) begin() {
	if m.s.Begun {
		return
	}
	s := &m.s
	s.Begun = true
	asked := min(s.Start.AskedAt, m.at) // nobody speaks in the future
	s.Deadline = asked + orDefault(s.Start.DeadlineMs, defaultDeadline)
	s.StartBy = asked + orDefault(s.Start.StartByMs, defaultStartBy)
	if saw := s.Start.Saw; saw != nil {
		s.seen(saw.Epoch, saw.Seq)
		m.note("", "started by a watch: "+saw.words())
	}
	switch {
	case !ValidID(s.Start.PlanID) || s.Start.DeviceID == "":
		m.end(Failed, &Report{Code: "PLAN_INVALID", Detail: "without a well-formed plan id and a device id no report could be matched"})
	case s.Start.Document != nil && s.Start.Slice != nil:
		m.adopt(*s.Start.Document, *s.Start.Slice, false)
	case s.Start.Utterance == nil:
		m.end(Failed, &Report{Code: "PLAN_INVALID", Detail: "the plan's input has neither a document with its catalog slice nor an utterance"})
	case s.Start.Utterance.DeviceContext != nil:
		s.Planner.Context = fresh.AsTold(s.Start.Utterance.DeviceContext, m.at)
	}
}

func orDefault(v, d int64) int64 {
	if v > 0 {
		return min(v, longest)
	}
	return d
}
