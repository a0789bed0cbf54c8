package robot

import (
	"context"
	"encoding/json"
	"errors"

	"errand/deviceio/wire"
)

// spoil lets the faults have an answer: it returns what is sent in its place, after as long as they hold it back. What was
// asked for is done by then.
func (r *Robot) spoil(ctx context.Context, command, operation string, answer any) (any, error) {
	t, err := r.about(ctx, operation)
	if err != nil {
		return nil, err
	}
	answer, err = r.distort(ctx, command, t, answer)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	now := r.now()
	strikes := func(kind FaultKind) *Fault {
		return r.faults.strikes(now, kind, t.Spec.OperationID, t.Spec.TaskMethod, t.RoomID, func(f *Fault) bool { return f.answers(command) })
	}
	dropped, slow := strikes(FaultDropAnswer) != nil, strikes(FaultSlow)
	var until *Fault
	if !dropped && command == wire.CommandSubmitTask && t.ID != "" { // a refusal waits for no event
		until = strikes(FaultDelayAnswer)
	}
	twice := !dropped && strikes(FaultDoubleAnswer) != nil
	r.wake()
	r.mu.Unlock()
	if dropped {
		return nil, r.neverSend(ctx)
	}
	if slow != nil {
		err = r.awaitTime(ctx, slow, now+slow.DelayMs)
	}
	if err == nil && until != nil {
		err = r.await(ctx, func() bool { return until.Released || r.wasTold(ctx, operation, until.Event) })
	}
	if err == nil && twice {
		return r.faults.echo.expect(answer)
	}
	return answer, err
}

// about is the task that a request was about. For none, only a fault without filters strikes.
func (r *Robot) about(ctx context.Context, operation string) (*Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if operation == "" {
		return &Task{}, nil
	}
	t, err := r.find(ctx, operation, "")
	if t == nil {
		return &Task{}, err
	}
	return t.copy(), err
}

// distort lets the faults change what an answer says.
func (r *Robot) distort(ctx context.Context, command string, t *Task, answer any) (any, error) {
	r.mu.Lock()
	strikes := func(kind FaultKind) *Fault {
		return r.faults.strikes(r.now(), kind, t.Spec.OperationID, t.Spec.TaskMethod, t.RoomID, func(f *Fault) bool { return f.answers(command) })
	}
	other, err := r.store.lastOver(ctx, t.Spec.OperationID)
	mixed := other != nil && strikes(FaultMixUp) != nil
	var lie *Fault
	if status, ok := answer.(wire.StatusAnswer); ok && status.Found {
		lie = strikes(FaultLieStatus)
	}
	nonsense := strikes(FaultNonsense)
	r.mu.Unlock()
	if err == nil && mixed {
		answer, err = r.answerAbout(ctx, command, other, answer)
	}
	if status, ok := answer.(wire.StatusAnswer); ok && lie != nil {
		status.Status, status.TerminalEvent, status.Reason = lie.Status, nil, wire.Reason{}
		answer = status
	}
	if nonsense != nil {
		answer = nonsense.Answer
	}
	return answer, err
}

// answerAbout answers a request as if it had been about a task that is over; nothing changes by it.
func (r *Robot) answerAbout(ctx context.Context, command string, t *Task, otherwise any) (any, error) {
	switch command {
	case wire.CommandSubmitTask:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.again(ctx, t, nil)
	case wire.CommandTaskStatus:
		return r.Status(ctx, wire.StatusQuery{OperationID: t.Spec.OperationID})
	case wire.CommandCancelTask:
		return r.Cancel(ctx, wire.CancelQuery{OperationID: t.Spec.OperationID})
	}
	return otherwise, nil // it is about no task
}

// lastOver is the task that ended last, of all but one operation; nil if there is none.
func (s *store) lastOver(ctx context.Context, but string) (*Task, error) {
	tasks, err := scanTasks(ctx, s.db, `SELECT doc FROM tasks WHERE ended_at > 0 AND operation_id <> ? ORDER BY ended_at DESC, arrival DESC LIMIT 1`, but)
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	return tasks[0], nil
}

// neverSend ends when the other side has given up, for there is no answer that says "no answer".
func (r *Robot) neverSend(ctx context.Context) error {
	r.mu.Lock()
	connection := r.connection
	r.mu.Unlock()
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && connection != nil {
		<-connection.Done() // "too late" would be an answer too
	}
	return ctx.Err()
}

// awaitTime waits until the time has come, or the fault is released. Each tick looks.
func (r *Robot) awaitTime(ctx context.Context, f *Fault, due int64) error {
	count := func(n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.faults.late += n
	}
	count(+1)
	defer count(-1)
	return r.await(ctx, func() bool { return f.Released || r.now() >= due })
}

// wasTold reports whether the outbox has an event of an operation.
func (r *Robot) wasTold(ctx context.Context, operation, event string) bool {
	var n int
	err := r.store.db.QueryRowContext(ctx, `SELECT count(*) FROM events WHERE operation_id = ? AND event_name = ? AND event_id IS NOT NULL`, operation, event).Scan(&n)
	return err == nil && n > 0
}

// expect makes the next frame that carries this answer go out twice.
func (e *echo) expect(answer any) (json.RawMessage, error) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = append(e.wanted, raw)
	return raw, nil
}
