package gateway_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/lease"
)

// withTasks is a context that tells this of the device's tasks.
func withTasks(area string) string {
	return strings.Replace(deviceContext, `"task_manager":{"available":false}`, `"task_manager":`+area, 1)
}

func TestTasksAreReadFromTheContext(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	for name, c := range map[string]struct {
		area, status string // status: the answer about the running task, where it is asked for
		want         []string
		partial      bool
		err          error
	}{
		"listed":              {`{"tasks":[{"task_id":"t1","operation_id":"p/a/1"},{"task_id":"by hand"},{"task_id":"t2","operation_id":"q/b/1"}]}`, "", []string{"p/a/1", "q/b/1"}, false, nil},
		"nothing listed":      {`{"available":true,"tasks":[],"queue_length":0}`, "", nil, false, nil},
		"idle":                {`{"available":true,"running_task_id":"","queue_length":0}`, "", nil, false, nil},
		"one waits":           {`{"available":true,"running_task_id":"","queue_length":1}`, "", nil, true, nil},
		"one runs":            {`{"running_task_id":"t1"}`, `{"found":true,"status":"RUNNING","taskId":"t1","operation_id":"p/a/1"}`, []string{"p/a/1"}, false, nil},
		"one runs, one waits": {`{"running_task_id":"t1","queue_length":1}`, `{"found":true,"status":"BLOCKED","operation_id":"p/a/1"}`, []string{"p/a/1"}, true, nil},
		"over meanwhile":      {`{"running_task_id":"t1"}`, `{"found":true,"status":"COMPLETED","operation_id":"p/a/1"}`, nil, false, nil},
		"not available":       {`{"available":false}`, "", nil, false, lease.ErrCannotTell},
		"tasks of its own":    {`{"tasks":"many"}`, "", nil, false, lease.ErrCannotTell},
	} {
		n := h.robot(func(c *wire.Connect) { c.Commands = append(c.Commands, wire.CommandContext) })
		n.answer(n.invoked(), deviceContext) // asked on connect
		type answer struct {
			operations []string
			partial    bool
			err        error
		}
		read := make(chan answer, 1)
		go func() {
			var a answer
			a.operations, a.partial, a.err = h.gateway.Tasks(t.Context(), n.id)
			read <- a
		}()
		n.answer(n.invoked(), withTasks(c.area))
		if c.status != "" {
			asked := n.invoked()
			if asked.Command != wire.CommandTaskStatus || !strings.Contains(asked.ParamsJSON, `"t1"`) {
				t.Errorf("%s: asked %s %s", name, asked.Command, asked.ParamsJSON)
			}
			n.answer(asked, c.status)
		}
		got := await(t, read, "the tasks")
		if !slices.Equal(got.operations, c.want) || got.partial != c.partial || !errors.Is(got.err, c.err) {
			t.Errorf("%s: %+v; want %v, partial %v, %v", name, got, c.want, c.partial, c.err)
		}
	}
}

func TestTasksOfOneThatCannotTellAndOfOneThatIsAway(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil) // no context is offered
	if _, _, err := h.gateway.Tasks(t.Context(), n.id); !errors.Is(err, lease.ErrCannotTell) {
		t.Errorf("without a context: %v", err)
	}
	if _, _, err := h.gateway.Tasks(t.Context(), "nobody"); !errors.Is(err, plan.ErrNotConnected) || errors.Is(err, lease.ErrCannotTell) {
		t.Errorf("away: %v", err)
	}
}
