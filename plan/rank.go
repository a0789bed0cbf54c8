package plan

import "slices"

// rank orders what is said about one operation: a lower rank never overwrites a higher one (design §6 Ranks).
func (p OpPhase) rank() int {
	switch p {
	case OpAccepted:
		return 1
	case OpRunning, OpBlocked:
		return 2
	case OpCompleted, OpFailed, OpCancelled, OpTimedOut, OpRefused:
		return 3
	default:
		return 0
	}
}

// Dead reports whether the operation can do nothing any more.
func (p OpPhase) Dead() bool { return p.rank() == 3 }

// phaseOf says what an event name means for the operation it carries; "" means nothing.
// COMPLETED and WORKFLOW_STEP_COMPLETED mean the same; names of a parent workflow mean nothing to a step.
func phaseOf(name EventName) OpPhase {
	switch name {
	case EventQueued:
		return OpAccepted
	case EventStarted, EventRunning, EventProgress, EventStepStarted:
		return OpRunning
	case EventBlocked:
		return OpBlocked
	case EventCompleted, EventStepCompleted:
		return OpCompleted
	case EventFailed, EventStepFailed:
		return OpFailed
	case EventCancelled:
		return OpCancelled
	case EventTimedOut:
		return OpTimedOut
	default:
		return ""
	}
}

// Terminal reports whether the name says that a task is over.
func (n EventName) Terminal() bool { return phaseOf(n).Dead() }

// later reports whether (epoch, seq) comes after what was last applied to the operation (law 8: never a timestamp).
func (o *Operation) later(epoch, seq int64) bool {
	if epoch != o.Epoch {
		return epoch > o.Epoch
	}
	return seq > o.Seq
}

// seenWindow is how many sequence numbers are remembered below the highest one of a boot, seenEpochs for how many boots.
const (
	seenWindow = 64
	seenEpochs = 4
)

// seen reports whether an event of this boot and number was taken before, and remembers it (law 7).
// Below the window nothing is known: there the operation's own state decides.
func (s *State) seen(epoch, seq int64) bool {
	for i := range s.Seen {
		if s.Seen[i].Epoch == epoch {
			s.Seen = slices.Clone(s.Seen)
			return s.Seen[i].add(seq)
		}
	}
	if len(s.Seen) == seenEpochs {
		s.Seen = s.Seen[1:]
	}
	s.Seen = append(slices.Clip(s.Seen), SeenEpoch{Epoch: epoch, High: seq, Seqs: []int64{seq}})
	return false
}

func (e *SeenEpoch) add(seq int64) bool {
	at := len(e.Seqs)
	for at > 0 && e.Seqs[at-1] >= seq {
		at--
	}
	if at < len(e.Seqs) && e.Seqs[at] == seq {
		return true
	}
	e.Seqs = slices.Insert(slices.Clip(e.Seqs), at, seq) // a new list: states share theirs
	e.High = max(e.High, seq)
	if len(e.Seqs) > seenWindow {
		e.Seqs = e.Seqs[1:]
	}
	return false
}
