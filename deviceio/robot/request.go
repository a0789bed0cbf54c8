package robot

import (
	"context"
	"encoding/json"
)

// arrive lets the faults have a request on its way to the robot: it is lost, late, or not the only one. It returns the
// context that the request is carried out under: what arrives is carried out, whether or not anybody still waits for it.
func (r *Robot) arrive(ctx context.Context, command string, params json.RawMessage) (context.Context, error) {
	operation, method, err := r.subject(ctx, params)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	now := r.now()
	strikes := func(kind FaultKind) *Fault {
		return r.faults.strikes(now, kind, operation, method, "", func(f *Fault) bool { return f.answers(command) })
	}
	lost, late, twin := strikes(FaultLoseRequest) != nil, strikes(FaultLateRequest), strikes(FaultCopyRequest)
	life := r.connection
	r.wake()
	r.mu.Unlock()
	if life == nil {
		life = context.WithoutCancel(ctx)
	}
	if lost {
		return nil, r.neverSend(ctx)
	}
	if twin != nil {
		go r.arriveAgain(life, twin, now, command, params)
	}
	if late == nil {
		return ctx, nil
	}
	if err := r.awaitTime(life, late, now+late.DelayMs); err != nil {
		return nil, err
	}
	return context.WithoutCancel(ctx), nil
}

// arriveAgain carries out a copy of a request once it has arrived. Nobody waits for its answer.
func (r *Robot) arriveAgain(life context.Context, f *Fault, sent int64, command string, params json.RawMessage) {
	if err := r.awaitTime(life, f, sent+f.DelayMs); err != nil {
		return
	}
	answer, about, err := r.serve(context.WithoutCancel(life), command, params)
	text, _ := json.Marshal(answer) // for people only
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.report("gets a copy of %s about %s, answers %s (%v)", command, about, text, err)
		r.wake()
	}
}

// subject reads which operation a request is about, and of what method, as far as that can be read and is known.
func (r *Robot) subject(ctx context.Context, params json.RawMessage) (operation, method string, err error) {
	var p struct {
		OperationID string `json:"operation_id"`
		TaskMethod  string `json:"taskMethod"`
	}
	_ = json.Unmarshal(params, &p) // what cannot be read is refused once it arrives
	if p.TaskMethod != "" {
		return p.OperationID, p.TaskMethod, nil
	}
	t, err := r.about(ctx, p.OperationID)
	if err != nil {
		return "", "", err
	}
	return p.OperationID, t.Spec.TaskMethod, nil
}
