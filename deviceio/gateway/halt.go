package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/lease"
)

// haltReason is told with the cancels of a stop.
const haltReason = plan.EmergencyStop + ": the device was stopped and must stand still"

// The wait before a stopped device is looked at again that does not stand still, or could not be asked.
const (
	haltAgain = 200 * time.Millisecond
	haltMost  = 5 * time.Second
)

// halt cancels what the device does, again and again until it stands still, the stop is released or the socket ends. One at a
// time for a socket: who comes while one runs has it look once more before it ends, since the stop that it carries out may be released by
// now, and this one came right behind.
func (s *session) halt() {
	s.halts.Add(1)
	for s.halting.CompareAndSwap(false, true) {
		told := s.halts.Load()
		s.haltOnce()
		s.halting.Store(false)
		if s.halts.Load() == told {
			return
		}
	}
}

func (s *session) haltOnce() {
	over := make(map[string]bool)
	for wait := haltAgain; ; wait = min(2*wait, haltMost) {
		if _, stopped := s.g.stoppedNow(s.ctx, s.deviceID); !stopped || s.ctx.Err() != nil {
			return
		}
		moving, err := s.cancelAll(over)
		if moving == 0 && err == nil {
			s.log.Warn("the stopped device stands still", "cancelled", len(over))
			return
		}
		s.log.Warn("the stopped device may still move: it is asked again", "operations", moving, "in", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
	}
}

// cancelAll cancels every operation that is known of and not over: first what was submitted here, whose submit may be on its way
// still and then finds a tombstone, then what the device lists. moving is how many of them are not over.
func (s *session) cancelAll(over map[string]bool) (moving int, err error) {
	s.cancelInvokes()
	moving, err = s.cancelEach(s.g.live.operations(s.deviceID), over)
	listed, partial, listErr := s.g.Tasks(s.ctx, s.deviceID)
	if errors.Is(listErr, lease.ErrCannotTell) {
		listErr = nil // then what was submitted here is all that is known of
	}
	more, moreErr := s.cancelEach(listed, over)
	if partial {
		more++ // what waits in its queue begins when the other is gone
	}
	return moving + more, errors.Join(err, listErr, moreErr)
}

// cancelEach cancels the operations at once, for an answer may be slow in coming.
func (s *session) cancelEach(operations []string, over map[string]bool) (moving int, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, id := range operations {
		if over[id] {
			continue
		}
		all.Go(func() {
			done, cancelErr := s.cancelOne(id)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, cancelErr)
			if done {
				over[id] = true
			} else {
				moving++
			}
		})
	}
	all.Wait()
	return moving, err
}

// cancelOne asks the device to cancel one operation; over means that it cannot move the device any more.
func (s *session) cancelOne(operationID string) (over bool, err error) {
	if !s.advertises(wire.CommandCancelTask) {
		return true, nil // it has no tasks: cancelInvokes is all there is
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.g.opts.InvokeTimeout)
	defer cancel()
	raw, err := s.invoke(ctx, wire.CommandCancelTask, wire.CancelQuery{OperationID: operationID, Reason: haltReason})
	if err != nil {
		return false, err
	}
	answer, err := wire.ParseCancelAnswer(raw)
	if err != nil {
		return false, unreadable(wire.CommandCancelTask, err)
	}
	switch answer.Case {
	case wire.CaseCancelling:
		return false, nil
	case wire.CaseRefused:
		return answer.TerminalEvent != nil, nil // what cannot be stopped is watched to its end
	}
	return true, nil
}

// cancelInvokes withdraws the commands of a plain node that are not answered: its invoke is its task.
func (s *session) cancelInvokes() {
	s.mu.Lock()
	var moving []string
	for id, p := range s.pending {
		if p.moves {
			moving = append(moving, id)
		}
	}
	s.mu.Unlock()
	for _, id := range moving {
		s.send(wire.EventCancel, wire.InvokeCancel{InvokeID: id, NodeID: s.deviceID})
	}
}
