package robot

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// Submit takes a task in, or says why not (contract.md §3, submitTask). Accepted is not completed: the task is queued.
//
// The order of the questions matters. First, is this operation known? Then it gets its first answer again and nothing
// moves (law 11). Then, may it run at all: it was cancelled before it came, or a later try was seen already. Only then
// whether it makes sense, and whether the robot can do it now. A refusal is remembered: a copy of the same submit that
// arrives later, when the battery is full, must not start moving behind the plan's back.
func (r *Robot) Submit(ctx context.Context, spec wire.Task) (wire.SubmitAnswer, error) {
	held, err := device.Held(ctx) // its ttl counts from when it was sent (design §6, old intentions)
	if err != nil {
		return wire.SubmitAnswer{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return wire.SubmitAnswer{}, r.broken
	}
	step, generation, err := splitOperation(spec.OperationID)
	if err != nil {
		return r.refused(spec, operationFault(spec)), nil
	}
	known, err := r.find(ctx, spec.OperationID, "")
	if err != nil || known != nil {
		return r.again(ctx, known, err)
	}
	if dead, err := r.buried(ctx, spec.OperationID); err != nil || dead != nil {
		return r.refused(spec, dead), err
	}
	if stale, err := r.fenced(ctx, step, generation); err != nil || stale != nil {
		return r.refused(spec, stale), err
	}
	r.raiseFence(step, generation)
	t, refusal := r.admit(spec, r.now()-held.Milliseconds())
	if refusal == nil {
		refusal, err = r.olderAlive(ctx, step)
	}
	if err != nil {
		return wire.SubmitAnswer{}, err
	}
	if refusal != nil {
		r.bury(spec.OperationID, refusal)
		return r.refused(spec, refusal), r.commit(ctx)
	}
	return r.enqueue(ctx, t)
}

// operationFault tells a missing operation id from an ill-formed one. Without one nothing is admitted: a copy of the
// submit could not be told from a second wish.
func operationFault(spec wire.Task) *wire.Reason {
	if spec.OperationID == "" {
		return missing("operation_id")
	}
	return invalid("operation_id", errOperationID.Error())
}

// find looks an operation up among the live ones and the stored ones; nil means it was never admitted.
func (r *Robot) find(ctx context.Context, operationID, taskID string) (*Task, error) {
	is := func(t *Task) bool {
		return operationID != "" && t.Spec.OperationID == operationID || operationID == "" && t.ID == taskID
	}
	if r.running != nil && is(r.running) {
		return r.running, nil
	}
	for _, t := range r.queue {
		if is(t) {
			return t, nil
		}
	}
	return r.store.task(ctx, operationID, taskID)
}

// again answers a submit that came before: the same task id, the stored terminal event, no movement.
func (r *Robot) again(ctx context.Context, t *Task, err error) (wire.SubmitAnswer, error) {
	if err != nil {
		return wire.SubmitAnswer{}, err
	}
	terminal, err := r.terminal(ctx, t)
	return wire.SubmitAnswer{Accepted: true, TaskID: t.ID, TaskState: string(t.State), TaskMethod: t.Spec.TaskMethod,
		StoreID: r.store.id, PreStateRevision: t.PreRevision, TerminalEvent: terminal}, err
}

func (r *Robot) refused(spec wire.Task, why *wire.Reason) wire.SubmitAnswer {
	a := wire.SubmitAnswer{TaskMethod: spec.TaskMethod, StoreID: r.store.id}
	if why != nil {
		a.Reason = *why
	}
	return a
}

// buried returns why an operation must never run, or nil.
func (r *Robot) buried(ctx context.Context, operationID string) (*wire.Reason, error) {
	var doc string
	switch err := r.store.db.QueryRowContext(ctx, `SELECT reason FROM tombstones WHERE operation_id = ?`, operationID).Scan(&doc); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("tombstones: %w", err)
	}
	why := new(wire.Reason)
	return why, json.Unmarshal([]byte(doc), why)
}

// bury makes sure that an operation that was not admitted never will be.
func (r *Robot) bury(operationID string, why *wire.Reason) {
	at := r.now()
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		doc, err := json.Marshal(why)
		if err != nil {
			return err
		}
		return exec(ctx, tx, `INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)`, operationID, at, string(doc))
	})
}

// fenced refuses a try older than one that was seen (design §6: the device refuses a generation below the highest).
func (r *Robot) fenced(ctx context.Context, step string, generation int) (*wire.Reason, error) {
	var highest int
	err := r.store.db.QueryRowContext(ctx, `SELECT coalesce(max(generation), 0) FROM fences WHERE step = ?`, step).Scan(&highest)
	if err != nil {
		return nil, fmt.Errorf("fences: %w", err)
	}
	if generation >= highest {
		return nil, nil
	}
	return because(ReasonStaleGeneration, map[string]any{"generation": generation, "highest_seen": highest}), nil
}

func (r *Robot) raiseFence(step string, generation int) {
	at := r.now()
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		return exec(ctx, tx, `INSERT INTO fences VALUES (?, ?, ?)
			ON CONFLICT (step) DO UPDATE SET generation = max(generation, excluded.generation), at = excluded.at`, step, generation, at)
	})
}

// olderAlive refuses a new try while an older one of the same step can still move: two performers (case c04).
func (r *Robot) olderAlive(ctx context.Context, step string) (*wire.Reason, error) {
	var alive string
	switch err := r.store.db.QueryRowContext(ctx, `SELECT operation_id FROM tasks WHERE step = ? AND ended_at = 0`, step).Scan(&alive); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("tasks: %w", err)
	}
	return because(ReasonGenerationAlive, map[string]any{"alive": alive}), nil
}

// admit checks a task that was never seen: does it make sense, does policy allow it, can it be done now.
func (r *Robot) admit(spec wire.Task, sent int64) (*Task, *wire.Reason) {
	if spec.TaskMethod == "" {
		return nil, missing("taskMethod")
	}
	m, ok := findMethod(spec.TaskMethod)
	if !ok {
		return nil, because(ReasonUnsupportedMethod, map[string]any{"taskMethod": spec.TaskMethod})
	}
	if spec.TimeoutMs < 0 || spec.TTLMs < 0 {
		return nil, invalid("timeoutMs", "timeoutMs and ttlMs are milliseconds, 0 or more")
	}
	t := &Task{Spec: spec, State: Queued, ReceivedAt: sent, PreRevision: r.revision()}
	if t.Spec.Params == nil {
		t.Spec.Params = map[string]any{}
	}
	if why := r.ground(m, t); why != nil {
		return nil, why
	}
	if why := m.target(t); why != nil {
		return nil, why
	}
	if m.check != nil {
		if why := m.check(r.home, t.Spec.Params); why != nil {
			return nil, why
		}
	}
	return t, r.allowed(m, t)
}

// ground finds the room a task is about, in the robot's own catalog and nowhere else.
func (r *Robot) ground(m method, t *Task) *wire.Reason {
	if m.room == roomNone {
		return nil
	}
	if m.room == roomStation {
		t.RoomID = r.home.Station
		return nil
	}
	id, byID := text(t.Spec.Params, "area_id", "areaId", "room_id")
	name, byName := text(t.Spec.Params, "position_name", "positionName", "roomName", "room_name")
	switch {
	case id != "":
		room, ok := r.home.Room(id)
		if !ok {
			return because(ReasonRoomUnknown, map[string]any{"parameter": byID, "value": id})
		}
		t.RoomID = room.ID
	case name != "":
		rooms := r.home.RoomsNamed(name)
		switch len(rooms) {
		case 0:
			return because(ReasonRoomUnknown, map[string]any{"parameter": byName, "value": name})
		case 1:
			t.RoomID = rooms[0].ID
		default:
			return because(ReasonRoomAmbiguous, map[string]any{"parameter": byName, "value": name, "rooms": len(rooms)})
		}
	case m.room == roomNamed:
		return missing(byName)
	default:
		t.RoomID = r.home.RoomAt(r.world.X, r.world.Y).ID
	}
	return nil
}

// allowed asks policy and the robot's own condition, and last whether there is room in the queue.
func (r *Robot) allowed(m method, t *Task) *wire.Reason {
	if r.world.Stopped {
		return because(ReasonEmergencyStop, map[string]any{"button": "pressed"})
	}
	if room, ok := r.home.Room(t.RoomID); ok && m.moves && room.NoEntry {
		return because(ReasonMovePolicy, map[string]any{"room_id": room.ID, "room_name": room.Name})
	}
	if why := r.faults.onSubmit(t, r.now()); why != nil {
		return why
	}
	if why := r.stands(m, t); why != nil {
		return why
	}
	if want := t.Spec.ExpectedRevision; m.actsOn == "" && want != "" && want != r.revision() {
		return because(ReasonStateChanged, map[string]any{"expected_revision": want, "revision": r.revision()})
	}
	if m.moves && !m.home && r.world.Battery < r.home.LowBattery {
		return because(ReasonBatteryLow, map[string]any{"level": tenth(r.world.Battery), "needed": r.home.LowBattery})
	}
	if len(r.queue) >= r.home.QueueLimit {
		return because(ReasonQueueFull, map[string]any{"limit": r.home.QueueLimit})
	}
	return nil
}
