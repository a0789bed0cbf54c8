package lease

import "errand/plan"

// Times the machine lives by, in milliseconds.
const (
	second = int64(1000)
	minute = 60 * second

	checkWanted = 30 * second // between looks at the holder while somebody waits
	checkLonely = 5 * minute  // and while nobody does
	hardAfter   = 30 * second // from the moment a plan vanished until the device counts as quarantined
	afterCancel = 3 * second  // from a cancel that was taken to the question how it went
	lastBackoff = 60 * second // between questions that brought nothing; they begin with afterCancel and double
	relist      = 5 * second  // after a list that did not tell all
	underWay    = 20 * second // a submit of a plan that is gone is with the device by then, or never: its activity is over
)

// Bounds of what a state holds.
const (
	maxQueue     = 500 // plans that wait; one more is refused
	maxUnsettled = 64  // operations; more of one device are none of ours, or a fault
	maxForgotten = 8
	maxPriority  = 10
)

// StateVersion is the version of State that this code writes.
const StateVersion = 1

// machine is one Step at work: a private copy of the state, the time, and the commands so far.
type machine struct {
	s   State
	at  int64
	out []Command
}

// Step takes one input at a time of the cloud's clock (Unix ms) and returns the next state with what is to be done.
// It is total: any input may come in any state, any number of times. The given state is not changed.
func Step(s State, at int64, in Input) (State, []Command) {
	m := &machine{s: s.clone(), at: max(at, s.At)} // a clock that steps back stands still here
	m.s.At = m.at
	m.take(in)
	m.advance()
	if wake := m.s.nextWake(); wake != m.s.Wake {
		m.s.Wake = wake
		m.do(SetTimer{At: wake})
	}
	return m.s, m.out
}

// take records what an input says. What follows from it is advance's business.
func (m *machine) take(in Input) {
	switch in := in.(type) {
	case Resumed:
		m.s.Device.Awaiting, m.s.Wake = false, 0
	case Requested:
		m.requested(in.LeaseRequest)
	case Released:
		m.released(in.LeaseRelease)
	case Linked:
		m.linked(in.DeviceChange)
	case Observed:
		m.observed(in.Observation)
	case Forget:
		m.forget(in)
	case Told:
		m.told(in)
	case HolderSeen:
		m.holderSeen(in)
	case DeviceFound:
		m.deviceFound(in.Route)
	case TasksListed:
		m.tasksListed(in)
	case CancelAnswered:
		m.cancelAnswered(in.CancelAnswered)
	case StatusReported:
		m.statusReported(in.StatusReported)
	case Woken:
		// Time passes with every input; this one brings nothing else.
	}
}

// advance does what is due: first whose turn it is, then whether the holder is there, then what is not known to be still.
func (m *machine) advance() {
	if m.s.settled() {
		m.s.Quarantine = nil
	}
	m.refuse()
	m.grant()
	m.check()
	m.settle()
	m.list()
	m.reach()
}

func (m *machine) do(c Command) { m.out = append(m.out, c) }

func (m *machine) tell(planID string, s plan.Signal) { m.do(Tell{PlanID: planID, Signal: s}) }

// nextWake is the earliest time at which something becomes due by itself.
func (s *State) nextWake() int64 {
	wake := int64(0)
	earliest := func(t int64) {
		if wake == 0 || t < wake {
			wake = t
		}
	}
	if h := s.Holder; h != nil && !h.Checking && !h.Telling {
		earliest(h.CheckedAt + s.checkEvery())
	}
	if q := s.Quarantine; q != nil && s.At < q.HardAt {
		earliest(q.HardAt)
	}
	if s.Device.Route == nil {
		return wake // what is for the device waits for a route
	}
	for _, op := range s.Unsettled {
		if !op.Out && !s.tombstoned(op) {
			earliest(op.CheckAt)
		}
	}
	if s.Device.WantList && !s.Device.Listing {
		earliest(s.Device.ListAt)
	}
	return wake
}
