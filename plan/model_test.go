package plan_test

import (
	"fmt"
	"slices"

	"errand/plan"
)

// model is a device as design §3 wants it: it deduplicates by operation id, keeps tombstones and terminals, and orders
// its reports by boot and sequence. Effects are what it physically did.
type model struct {
	online     bool
	connection int64
	epoch, seq int64
	store      string
	tasks      map[string]*task
	queue      []string
	tombstones map[string]bool
	effects    []string // operation ids, in order
	outbox     []plan.Event

	verdict   plan.Verdict
	refuse    *plan.Report            // the next submit
	fail      map[string]*plan.Report // by step: ends as FAILED
	result    map[string]any
	stubborn  bool // takes a cancel and goes on
	silent    bool // reports nothing
	forgetful bool // a lost store: every question is answered from a new one
}

type task struct {
	id       string
	phase    plan.OpPhase
	terminal *plan.Event
	step     string
	method   string
}

func newModel() *model {
	return &model{online: true, connection: 1, epoch: 1, store: storeA, tasks: map[string]*task{}, tombstones: map[string]bool{},
		verdict: plan.Verified, fail: map[string]*plan.Report{},
		result: map[string]any{"area_id": "6", "room_name": "안방", "raw_pose": "secret"}}
}

func (d *model) connect() { d.online = true; d.connection++ }

func (d *model) submit(c plan.Submit) plan.Submitted {
	if t, ok := d.tasks[c.OperationID]; ok {
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryAccepted, TaskID: t.id, StoreID: d.store, Terminal: t.terminal}
	}
	if d.tombstones[c.OperationID] {
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "TOMBSTONED"}}
	}
	if d.refuse != nil {
		report := d.refuse
		d.refuse = nil
		d.tombstones[c.OperationID] = true // a refusal is for ever: a copy that comes later finds it
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Report: report}
	}
	t := &task{id: fmt.Sprintf("t%d", len(d.tasks)+1), phase: plan.OpAccepted, step: c.StepID, method: c.TaskMethod}
	d.tasks[c.OperationID] = t
	d.queue = append(d.queue, c.OperationID)
	d.report(c.OperationID, plan.EventQueued, nil)
	return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryAccepted, TaskID: t.id, StoreID: d.store}
}

func (d *model) report(operation string, name plan.EventName, report *plan.Report) {
	t := d.tasks[operation]
	d.seq++
	ev := plan.Event{EventID: fmt.Sprintf("b%d-%d", d.epoch, d.seq), DeviceID: testDevice, Epoch: d.epoch, Seq: d.seq, Name: name,
		OperationID: operation, TaskID: t.id, TaskMethod: t.method, WorkflowID: testPlan, StepID: t.step, Report: report}
	if name == plan.EventCompleted {
		ev.Result = d.result
	}
	if name.Terminal() {
		t.terminal = &ev
	}
	if !d.silent {
		d.outbox = append(d.outbox, ev)
	}
}

func (d *model) busy() bool { return len(d.queue) > 0 }

// work moves the first task of the queue one stage on.
func (d *model) work() {
	if len(d.queue) == 0 {
		return
	}
	id := d.queue[0]
	t := d.tasks[id]
	switch t.phase {
	case plan.OpAccepted:
		t.phase = plan.OpRunning
		d.report(id, plan.EventStarted, nil)
		return
	case plan.OpBlocked:
		t.phase = plan.OpRunning
		d.report(id, plan.EventRunning, nil)
		return
	default:
	}
	d.queue = d.queue[1:]
	if report := d.fail[t.step]; report != nil {
		t.phase = plan.OpFailed
		d.report(id, plan.EventFailed, report)
		return
	}
	t.phase = plan.OpCompleted
	d.effects = append(d.effects, id) // in one breath with the terminal
	d.report(id, plan.EventCompleted, nil)
}

// block lets what runs get stuck; work frees it again.
func (d *model) block(report *plan.Report) {
	if len(d.queue) == 0 || d.tasks[d.queue[0]].phase != plan.OpRunning {
		return
	}
	d.tasks[d.queue[0]].phase = plan.OpBlocked
	d.report(d.queue[0], plan.EventBlocked, report)
}

// wipe loses the device's memory: it stands still, knows nothing, and says so by another store's name.
func (d *model) wipe() {
	d.store += "x"
	d.tasks, d.tombstones, d.queue = map[string]*task{}, map[string]bool{}, nil
	d.reboot()
}

func (d *model) status(operation string) plan.StatusReported {
	t, ok := d.tasks[operation]
	if !ok || d.forgetful {
		store := d.store
		if d.forgetful {
			store = "store-new"
		}
		return plan.StatusReported{OperationID: operation, Finding: plan.StatusNotFound, StoreID: store}
	}
	return plan.StatusReported{OperationID: operation, Finding: plan.StatusFound, TaskID: t.id, Status: t.phase,
		Epoch: d.epoch, AsOfSeq: d.seq, StoreID: d.store, Terminal: t.terminal}
}

func (d *model) cancel(operation string) plan.CancelAnswered {
	answer := plan.CancelAnswered{OperationID: operation, StoreID: d.store}
	if d.forgetful {
		answer.StoreID = "store-new"
	}
	t, ok := d.tasks[operation]
	switch {
	case !ok || d.forgetful:
		d.tombstones[operation] = true
		answer.Case = plan.CancelTombstoned
	case t.phase == plan.OpCompleted:
		answer.Case, answer.Terminal = plan.CancelAlreadyCompleted, t.terminal
	case t.phase.Dead():
		answer.Case, answer.Terminal = plan.CancelAlreadyFailed, t.terminal
	case d.stubborn:
		answer.Case = plan.CancelStopping
	default:
		t.phase = plan.OpCancelled
		d.queue = slices.DeleteFunc(d.queue, func(id string) bool { return id == operation })
		d.report(operation, plan.EventCancelled, nil)
		answer.Case, answer.Terminal = plan.CancelDone, t.terminal
	}
	return answer
}

// reboot starts a new boot: what it stored and queued is kept, the sequence starts again.
func (d *model) reboot() { d.epoch++; d.seq = 0; d.connect() }
