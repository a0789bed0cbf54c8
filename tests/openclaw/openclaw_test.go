package openclaw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/coder/websocket"

	"errand/catalog/load"
	"errand/plan"
	"errand/tests/stack"
)

// lab is an installation, and a real node that reaches it through a proxy.
type lab struct {
	stack *stack.Stack
	node  *realNode
	proxy *proxy
	id    string // of the node's device
}

// ownCatalog is the built-in one with the commands of a computer enabled, as an operator would; change may go further.
func ownCatalog(t *testing.T, change func([]byte) []byte) string {
	t.Helper()
	text := load.BuiltinFile()
	for _, id := range []string{"system_which", "system_run"} {
		entry := regexp.MustCompile(`(?s)(  - id: ` + id + `\n.*?\n    enabled: )false`)
		if !entry.Match(text) {
			t.Fatalf("%s is not switched off in the built-in catalog", id)
		}
		text = entry.ReplaceAll(text, []byte("${1}true"))
	}
	if change != nil {
		text = change(text)
	}
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// open starts an installation and a node, which is let in while it waits.
func open(t *testing.T, change func([]byte) []byte) *lab {
	t.Helper()
	cache := os.Getenv("ERRAND_TEST_OPENCLAW")
	if cache == "" {
		t.Skip("the real node is run by make e2e-openclaw, which installs it first")
	}
	s := stack.Start(t, "ERRAND_AUTO_APPROVE=false", stack.Option("ERRAND_CATALOG="+ownCatalog(t, change)))
	l := &lab{stack: s, proxy: newProxy(t, s.Gateway)}
	l.node = newNode(t, cache, l.proxy.url)
	l.node.start(t, sharedToken)
	registered := s.OpenRegistry(t)
	stack.Eventually(t, "the node waits to be let in", func(ctx context.Context) (bool, error) {
		devices, err := registered.Devices(ctx)
		if err != nil || len(devices) == 0 {
			return false, err
		}
		l.id = devices[0].ID
		return devices[0].State == "pending", nil
	})
	if status, answer := s.Post(t, "/v1/devices/"+l.id+"/approve", ""); status != 200 {
		t.Fatalf("approve: %d %s", status, answer)
	}
	l.online(t)
	if !l.node.runs() {
		t.Fatal("the node was ended by waiting")
	}
	t.Logf("pending, then approved: the same node process is connected as %.12s…", l.id)
	return l
}

// online waits until the node is connected.
func (l *lab) online(t *testing.T) {
	t.Helper()
	registered := l.stack.OpenRegistry(t)
	stack.Eventually(t, "the node is connected", func(ctx context.Context) (bool, error) {
		_, online, err := registered.Route(ctx, l.id)
		return online, err
	})
}

// run sends a plan whose one step is system.run.
func (l *lab) run(t *testing.T, argv []string) *stack.Plan {
	t.Helper()
	p := l.submit(t, "system_run", "run", map[string]any{"command": argv})
	consent(t, p)
	return p
}

// consent says yes to a command: each run of one is confirmed by a person, whatever the operator says of its impact.
func consent(t *testing.T, p *stack.Plan) {
	t.Helper()
	v := p.Await(t, "asks for consent", func(v plan.View) bool { return v.Question != nil && v.Question.Kind == "confirm" })
	p.Answer(t, v.Question.ID, "yes")
}

func (l *lab) submit(t *testing.T, capability, operation string, arguments map[string]any) *stack.Plan {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"steps": []any{map[string]any{"id": "a",
		"action": map[string]any{"capability_id": capability, "operation_id": operation, "arguments": arguments}}}})
	if err != nil {
		t.Fatal(err)
	}
	return l.stack.SubmitTo(t, l.id, string(doc))
}

// ends waits for the plan's end.
func ends(t *testing.T, p *stack.Plan, want plan.Phase) plan.Outcome {
	t.Helper()
	o, _ := p.Wait(t)
	if o.State != want {
		t.Errorf("plan %s ended %s (%+v), want %s", p.ID, o.State, o.Reason, want)
	}
	return o
}

// asked waits for the question whether an unknown operation is dead, and answers it.
func asked(t *testing.T, p *stack.Plan, choice string) {
	t.Helper()
	v := p.Await(t, "asks whether it is dead", func(v plan.View) bool { return v.Question != nil })
	if v.Question.Kind != "declare_dead" {
		t.Errorf("asked %+v", v.Question)
	}
	p.Answer(t, v.Question.ID, choice)
}

func TestARealNode(t *testing.T) {
	l := open(t, nil)
	t.Run("a one-step plan to completion", func(t *testing.T) {
		o := ends(t, l.submit(t, "system_which", "find", map[string]any{"bins": []string{"sh"}}), plan.Completed)
		if o.Steps[0].TaskMethod != "system.which" || o.Steps[0].EventName != "COMPLETED" {
			t.Errorf("%+v", o.Steps[0])
		}
	})
	t.Run("a result that comes twice counts once", func(t *testing.T) {
		l.proxy.doubles.Store(true)
		defer l.proxy.doubles.Store(false)
		argv, count := l.node.script("twice", 0.1)
		o := ends(t, l.run(t, argv), plan.Completed)
		await(t, "the copy was acknowledged as ignored", func() bool { return l.proxy.ignored.Load() > 0 })
		if l.proxy.doubled.Load() == 0 || count("done") != 1 || o.Steps[0].Result["success"] != true {
			t.Errorf("doubled %d, done %d, %+v", l.proxy.doubled.Load(), count("done"), o.Steps[0])
		}
	})
	t.Run("cancelled in the middle of a run", func(t *testing.T) {
		argv, count := l.node.script("cancelled", 20)
		p := l.run(t, argv)
		await(t, "it began", func() bool { return count("began") == 1 })
		p.Cancel(t)
		o := ends(t, p, plan.Unresolved) // what it had done by then nobody tells, and it does not only read
		if o.Cancel == nil || o.Steps[0].Phase != plan.StepUnknown || count("done") != 0 {
			t.Errorf("cancel %+v, step %s, done %d", o.Cancel, o.Steps[0].Phase, count("done"))
		}
	})
	t.Run("killed in the middle of a run, a person says it is dead", func(t *testing.T) {
		argv, count := l.node.script("killed", 3)
		p := l.run(t, argv)
		await(t, "it began", func() bool { return count("began") == 1 })
		l.node.kill(t)
		p.AwaitStep(t, "a", plan.StepUnknown)
		l.node.start(t, "") // by the device token that it keeps, and no other
		l.online(t)
		asked(t, p, "retry")
		consent(t, p) // to the second run: the first yes was for the first
		o := ends(t, p, plan.Completed)
		// The first run's own process may outlive its node, and nobody will ever tell: that is why a person is asked.
		if count("began") != 2 || count("done") < 1 || o.Steps[0].OperationID != p.ID+"/a/2" {
			t.Errorf("began %d, done %d, by %s", count("began"), count("done"), o.Steps[0].OperationID)
		}
	})
	t.Run("the gateway restarts in the middle of a plan", func(t *testing.T) {
		argv, count := l.node.script("restarted", 25)
		p := l.run(t, argv)
		await(t, "it began", func() bool { return count("began") == 1 })
		l.stack.GatewayProc.Stop(t)
		if code := websocket.StatusCode(l.proxy.closed.Load()); code != websocket.StatusServiceRestart {
			t.Errorf("the node's socket was closed with %d, want 1012", code)
		}
		l.stack.GatewayProc.Start(t)
		l.online(t)
		asked(t, p, "stop")
		if o := ends(t, p, plan.Unresolved); o.Steps[0].Phase != plan.StepUnknown || count("began") != 1 {
			t.Errorf("step %s, began %d", o.Steps[0].Phase, count("began"))
		}
		ends(t, l.submit(t, "system_which", "find", map[string]any{"bins": []string{"sh"}}), plan.Completed)
	})
}

// The operator says in the catalog that a command may be repeated, and how long it may take.
func TestARealNodeByPolicy(t *testing.T) {
	l := open(t, func(text []byte) []byte {
		entry := regexp.MustCompile(`(?s)(  - id: system_run\n.*?    impact: )irreversible(.*?run_ms: )600000`)
		return entry.ReplaceAll(bytes.Clone(text), []byte("${1}reversible\n    idempotent: true${2}6000"))
	})
	t.Run("killed in the middle of what may be repeated", func(t *testing.T) {
		argv, count := l.node.script("repeated", 2)
		p := l.run(t, argv)
		await(t, "it began", func() bool { return count("began") == 1 })
		l.node.kill(t)
		p.AwaitStep(t, "a", plan.StepUnknown)
		l.node.start(t, "")
		o := ends(t, p, plan.Completed)
		if count("began") != 2 || count("done") < 1 || o.Steps[0].OperationID != p.ID+"/a/1" {
			t.Errorf("began %d, done %d, by %s", count("began"), count("done"), o.Steps[0].OperationID)
		}
	})
	t.Run("a result after its deadline", func(t *testing.T) {
		l.proxy.deaf.Store(true) // the node ignores the outer timeout, and here the cancel does not reach it
		defer l.proxy.deaf.Store(false)
		before := l.proxy.ignored.Load()
		argv, count := l.node.script("late", 7)
		p := l.run(t, argv)
		o := ends(t, p, plan.Completed)
		await(t, "a late result was acknowledged as ignored", func() bool { return l.proxy.ignored.Load() > before })
		if o.Steps[0].OperationID != p.ID+"/a/1" || count("done") < 1 {
			t.Errorf("by %s, done %d", o.Steps[0].OperationID, count("done"))
		}
	})
}
