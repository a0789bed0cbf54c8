package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errand/catalog/load"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// catalogWith is the built-in catalog with some of its capabilities switched on, as an operator would, in a file.
func catalogWith(t *testing.T, ids ...string) string {
	t.Helper()
	text := string(load.BuiltinFile())
	for _, id := range ids {
		before, rest, found := strings.Cut(text, "\n  - id: "+id+"\n")
		off, after, switched := strings.Cut(rest, "\n    enabled: false\n")
		if !found || !switched || strings.Contains(off, "\n  - id: ") {
			t.Fatalf("%s is not switched off in the built-in catalog", id)
		}
		text = before + "\n  - id: " + id + "\n" + off + "\n    enabled: true\n" + after
	}
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// phone is what a plain node says of itself: its commands, and nothing that it could be relied on for.
func phone(commands ...string) wire.Connect {
	c := stack.Declared()
	c.Client.DisplayName, c.Errand, c.Commands = "phone", nil, commands
	return c
}

// A plain node has no TaskManager: each of its commands is one invoke, and a plan of one step is carried out with it. One that only reads
// is completed by its result. One that leaves something behind, and whose answer is lost, is not repeated: what it left is looked for; and
// where nobody can look, a person is asked.
func TestPlansOfAPlainNodesCommands(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Option("ERRAND_CATALOG="+catalogWith(t, "contacts_add")))
	const add = `{"steps":[{"id":"add","action":{"capability_id":"contacts_add","operation_id":"add","arguments":{"displayName":"김민아"}}}]}`

	t.Run("what only reads", func(t *testing.T) {
		t.Parallel()
		n := s.Node(t, stack.NewKey(t), phone("device.status"))
		p := s.SubmitTo(t, n.ID, `{"steps":[{"id":"look","action":{"capability_id":"node_status","operation_id":"read"}}]}`)
		n.Answer(t, n.Invoked(t, "device.status"), `{"battery":{"level":0.81,"state":"charging"},"network":{"status":"satisfied"},"secret":"hunter2"}`)
		o, _ := p.Wait(t)
		if o.State != plan.Completed || o.Steps[0].TaskMethod != "device.status" || o.Steps[0].EventName != string(plan.EventCompleted) || o.LLMCalls != 0 {
			t.Errorf("the outcome is %+v", o)
		}
		if got := o.Steps[0].Result; got["battery_level"] != 0.81 || got["secret"] != nil {
			t.Errorf("Law04: the result is %v", got)
		}
		if asked := n.Received("device.status"); len(asked) != 1 {
			t.Errorf("it was asked %d times", len(asked))
		}
	})
	t.Run("a lost answer is read back", func(t *testing.T) {
		t.Parallel()
		key, both := stack.NewKey(t), phone("contacts.add", "contacts.search")
		n := s.Node(t, key, both)
		p := s.SubmitTo(t, n.ID, add)
		n.Invoked(t, "contacts.add")
		n.Cut() // it did so, and nobody heard
		p.AwaitStep(t, "add", plan.StepUnknown)
		n = s.Node(t, key, both)
		look := n.Invoked(t, "contacts.search")
		var sought struct{ Query string }
		if err := json.Unmarshal([]byte(look.ParamsJSON), &sought); err != nil || sought.Query != "김민아" {
			t.Errorf("looked for %s (%v)", look.ParamsJSON, err)
		}
		n.Answer(t, look, `{"contacts":[{"displayName":"김민아","identifier":"c-1"}]}`)
		wantOutcome(t, p, plan.Completed, "completed")
		if again := n.Received("contacts.add"); len(again) != 0 {
			t.Errorf("Law11: it was repeated: %+v", again)
		}
	})
	t.Run("where nobody can look a person is asked", func(t *testing.T) {
		t.Parallel()
		key, one := stack.NewKey(t), phone("contacts.add")
		n := s.Node(t, key, one)
		p := s.SubmitTo(t, n.ID, add)
		n.Invoked(t, "contacts.add")
		n.Cut()
		n = s.Node(t, key, one)
		v := p.Await(t, "asks whether it is dead", func(v plan.View) bool { return v.Question != nil })
		if v.Question.Kind != "declare_dead" {
			t.Errorf("asked %+v", v.Question)
		}
		p.Answer(t, v.Question.ID, "stop")
		if o, _ := p.Wait(t); o.State != plan.Unresolved || o.Steps[0].Phase != plan.StepUnknown {
			t.Errorf("Law09: the outcome is %+v", o)
		}
		if again := n.Received("contacts.add"); len(again) != 0 {
			t.Errorf("Law11: it was repeated: %+v", again)
		}
	})
}
