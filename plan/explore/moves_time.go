package explore

// The instants to which time may pass without the plan being woken: the worker was away, or it is just early.
const (
	halfway    int8 = iota // to its next wake
	justDue                // the wake's own moment, and something else comes first
	muchLater              // longer than a plan may wait without asking
	nearTheEnd             // of the plan's time, or of its patience while it stops
	atTheEnd
	instants
)

func (n *Node) times() [instants]int64 {
	s := &n.State
	end := s.Deadline
	if s.Ending != nil {
		end = s.Ending.GiveUpAt
	}
	if s.Cancel != nil {
		end = s.Cancel.GiveUpAt
	}
	return [instants]int64{halfway: (n.World.Now + s.Wake) / 2, justDue: s.Wake, muchLater: n.World.Now + 16*60_000, nearTheEnd: end - 3000, atTheEnd: end}
}

func (n *Node) timeFaults(add func(kind, int, int8)) {
	s := &n.State
	if !n.atRest() {
		add(wakes, 0, 0)
	}
	stopping := s.Cancel != nil || s.Ending != nil
	for how, at := range n.times() {
		if at <= n.World.Now || (int8(how) == muchLater && (stopping || at >= s.Deadline)) || (int8(how) == atTheEnd && at == s.Wake) {
			continue
		}
		add(timePasses, 0, int8(how))
	}
}
