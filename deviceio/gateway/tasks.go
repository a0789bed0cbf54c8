package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"errand/deviceio/wire"
	"errand/plan/lease"
)

// Tasks tells which of our operations the device runs or has in its queue, by its own context. Most list them there
// (task_manager.tasks); of one that names only the task it runs, the status tells the operation, and what waits in its
// queue stays unknown (partial). lease.ErrCannotTell means that asking again will not help.
func (g *Gateway) Tasks(ctx context.Context, deviceID string) (operations []string, partial bool, err error) {
	s, err := g.at(deviceID, 0)
	if err != nil {
		return nil, false, err
	}
	if s.keepsNothing("", "") {
		return s.invoked.operations(), false, nil
	}
	seen, err := s.planningContext(ctx)
	if told := (*DeviceError)(nil); errors.As(err, &told) || errors.Is(err, ErrBadAnswer) {
		return nil, false, fmt.Errorf("%w: %w", lease.ErrCannotTell, err)
	} else if err != nil {
		return nil, false, err
	}
	tasks, ok := tasksOf(seen)
	switch {
	case !ok:
		return nil, false, fmt.Errorf("%w: its context has no task_manager", lease.ErrCannotTell)
	case tasks.Tasks != nil:
		return operationsOf(tasks.Tasks), false, nil
	case tasks.RunningTaskID == "":
		return nil, tasks.QueueLength > 0, nil
	}
	operation, err := s.operationOf(ctx, tasks.RunningTaskID)
	if err == nil && operation != "" {
		operations = []string{operation}
	}
	return operations, tasks.QueueLength > 0, err
}

// taskManager is what a context tells of a device's tasks. Tasks is nil where it does not list them.
type taskManager struct {
	Available     *bool  `json:"available"`
	QueueLength   int    `json:"queue_length"`
	RunningTaskID string `json:"running_task_id"`
	Tasks         []task `json:"tasks"`
}

type task struct {
	OperationID string `json:"operation_id"`
}

// tasksOf reads the area task_manager; ok is false where the device cannot give it, or nobody can read it.
func tasksOf(seen map[string]any) (t taskManager, ok bool) {
	text, err := json.Marshal(seen["task_manager"])
	if err != nil || json.Unmarshal(text, &t) != nil {
		return taskManager{}, false
	}
	return t, seen["task_manager"] != nil && (t.Available == nil || *t.Available)
}

// operationsOf leaves out tasks that are none of ours.
func operationsOf(tasks []task) (operations []string) {
	for _, t := range tasks {
		if t.OperationID != "" {
			operations = append(operations, t.OperationID)
		}
	}
	return operations
}

// operationOf asks which operation a task is; "" if it is none of ours, or over.
func (s *session) operationOf(ctx context.Context, taskID string) (string, error) {
	if !s.advertises(wire.CommandTaskStatus) {
		return "", fmt.Errorf("%w: it did not announce %s", lease.ErrCannotTell, wire.CommandTaskStatus)
	}
	raw, err := s.invoke(ctx, wire.CommandTaskStatus, wire.StatusQuery{TaskID: taskID})
	if err != nil {
		return "", err
	}
	answer, err := wire.ParseStatusAnswer(raw)
	if err != nil {
		return "", unreadable(wire.CommandTaskStatus, err)
	}
	if !answer.Found || answer.TerminalEvent != nil || phaseOf(answer.Status).Dead() {
		return "", nil
	}
	return answer.OperationID, nil
}
