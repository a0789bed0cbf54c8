package robot

import (
	"context"
	"database/sql"
	"fmt"

	"errand/deviceio/wire"
)

// defaultTTLMs is how long a task may wait where the submit does not say: as long as design §6 lets a first step wait.
const defaultTTLMs = 5 * 60 * 1000

// enqueue takes an admitted task in: on disk before it is answered for.
func (r *Robot) enqueue(ctx context.Context, t *Task) (wire.SubmitAnswer, error) {
	r.arrival++
	t.Arrival = r.arrival
	t.ID = fmt.Sprintf("t-%s-%d", r.store.id[len("store-"):][:6], t.Arrival)
	m, _ := findMethod(t.Spec.TaskMethod)
	if t.Spec.TimeoutMs == 0 {
		t.Spec.TimeoutMs = m.runMs
	}
	if t.Spec.TTLMs == 0 {
		t.Spec.TTLMs = defaultTTLMs
	}
	r.queue = append(r.queue, t)
	r.save(t)
	r.announce(t, r.event(t, string(Queued)), "")
	if err := r.commit(ctx); err != nil {
		return wire.SubmitAnswer{}, err
	}
	return wire.SubmitAnswer{Accepted: true, TaskID: t.ID, TaskState: string(t.State), TaskMethod: t.Spec.TaskMethod,
		StoreID: r.store.id, PreStateRevision: t.PreRevision}, nil
}

// save makes the next commit store the task as it stands then.
func (r *Robot) save(t *Task) {
	r.note(func(ctx context.Context, tx *sql.Tx) error { return putTask(ctx, tx, t) })
}

// unqueue takes a task out of the queue, wherever it stands.
func (r *Robot) unqueue(t *Task) {
	for i, waiting := range r.queue {
		if waiting == t {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			return
		}
	}
}

// expire ends every task that waited longer than its ttl: old intentions do not move robots (design §6). The time the
// robot was off counts.
func (r *Robot) expire(now int64) {
	waiting := append([]*Task(nil), r.queue...)
	for _, t := range waiting {
		if now-t.ReceivedAt > t.Spec.TTLMs {
			r.unqueue(t)
			r.finish(t, Failed, because(ReasonTaskExpired, map[string]any{"ttlMs": t.Spec.TTLMs, "waitedMs": now - t.ReceivedAt}))
		}
	}
}

// startNext begins the oldest task when the executor is free.
func (r *Robot) startNext(now int64) {
	if r.running != nil || len(r.queue) == 0 {
		return
	}
	t := r.queue[0]
	r.queue = r.queue[1:]
	m, _ := findMethod(t.Spec.TaskMethod)
	t.State, t.StartedAt = Running, now
	t.Run = &run{Phases: m.program(r.home, t), ToldAt: now}
	r.running = t
	r.world.Revision++
	r.save(t)
	r.announce(t, r.event(t, "STARTED"), "")
	r.report("starts %s (%s)", t.Spec.TaskMethod, t.Spec.OperationID)
}
