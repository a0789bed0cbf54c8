package shim

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Watch does all that needs time, until ctx ends or the journal fails: it asks the vendor about the tasks that it has, stops
// those whose time is over, tells what the outbox would not take, and forgets what is older than Retention.
func (s *Shim) Watch(ctx context.Context) error {
	ticker := time.NewTicker(s.opts.CheckEvery)
	defer ticker.Stop()
	for {
		if err := s.Check(ctx); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Check is one round of Watch. Its error is the journal's; a vendor that is silent is asked again in the next round.
func (s *Shim) Check(ctx context.Context) error {
	for _, id := range s.live() {
		if err := s.look(ctx, id); err != nil {
			s.log.Debug("shim: a task cannot be looked at now", "operation", id, "err", err)
		}
		if err := s.expire(id); err != nil {
			return err
		}
		if _, err := s.stop(ctx, id); err != nil {
			s.log.Warn("shim: the TaskManager could not be told to stop a task", "operation", id, "err", err)
		}
	}
	if err := s.tidy(); err != nil {
		return err
	}
	return s.tell(ctx)
}

// searchFor is for how long the vendor is asked about an operation that is unknown. An event of it counts for ever.
const searchFor = 10 * time.Minute

// live lists the operations that are not over, in the order of their ids.
func (s *Shim) live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(s.memory.operations)) {
		op := s.memory.operations[id]
		if op.Phase == sending || op.Phase == taken || op.Phase == unknown && s.now()-op.SentAt < searchFor.Milliseconds() {
			ids = append(ids, id)
		}
	}
	return ids
}

// timeoutGrace is what a vendor has to end a task by itself when its time is over, before it is told to.
const timeoutGrace = 2_000 // milliseconds

// expire decides that a task has to end: one that did not begin in its time (old intentions move no robots, design §6), or runs
// for too long. A plain TaskManager may know neither ttl nor timeout.
func (s *Shim) expire(operationID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase != taken || op.StopFor != "" {
		return s.broken
	}
	now, begun := s.now(), op.StartedAt > 0 || standing(s.oddStatus(operationID)) > 1
	switch {
	case !begun && op.ExpiresAt > 0 && now > op.ExpiresAt:
		op.StopFor, op.StopWhy = ReasonTaskExpired, "it waited for longer than its ttlMs"
	case op.StartedAt > 0 && op.TimeoutMs > 0 && now > op.StartedAt+op.TimeoutMs+timeoutGrace:
		op.StopFor, op.StopWhy = ReasonTaskTimedOut, "it ran for longer than its timeoutMs"
	default:
		return nil
	}
	s.save(op)
	return s.commit()
}

// tidy forgets, once an hour or when the file has grown, what is older than the declared retention.
func (s *Shim) tidy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	now := s.opts.Clock()
	s.releaseEarly(now.Add(-s.opts.VendorTimeout - s.opts.Settle).UnixMilli())
	if now.Sub(s.forgot) >= time.Hour || s.journal.size > s.journal.limit {
		s.forgot = now
		s.forget(now.Add(-Retention).UnixMilli())
		if err := s.commit(); err != nil {
			return err
		}
		if err := s.journal.compact(s.memory); err != nil {
			s.broken = err
			return err
		}
	}
	return s.commit()
}

// releaseEarly gives up waiting for the answer that an event was held for.
func (s *Shim) releaseEarly(before int64) {
	for _, early := range slices.Clone(s.memory.early) {
		if early.At < before {
			s.release(early)
		}
	}
}

func (s *Shim) forget(before int64) {
	told := map[string]bool{}
	for _, a := range s.memory.pending {
		told[a.Event.OperationID] = true
	}
	for id, op := range s.memory.operations {
		if old := max(op.EndedAt, op.SentAt) < before; old && !told[id] && (op.Phase == over || op.Phase == unknown) {
			s.note(record{Drop: id})
		}
	}
	for step, f := range s.memory.fences {
		if f.At < before {
			delete(s.memory.fences, step)
		}
	}
	for id, dead := range s.memory.tombstones {
		if dead.At < before {
			delete(s.memory.tombstones, id)
		}
	}
}
