package plan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

func TestWhatIsAnOperationID(t *testing.T) {
	id, err := plan.ParseOperationID("p-1/move_2/13")
	if err != nil || id != (plan.OperationID{Plan: "p-1", Step: "move_2", Generation: 13}) || id.String() != "p-1/move_2/13" {
		t.Errorf("%+v, %v", id, err)
	}
	for _, text := range []string{"", "p-1/move", "p-1/move/1/2", "/move/1", "p-1//1", "p 1/move/1", "p-1/mo ve/1", "p-1/move/0", "p-1/move/-1", "p-1/move/+1", "p-1/move/01", "p-1/move/x", "p-1/move/"} {
		if id, err := plan.ParseOperationID(text); !errors.Is(err, plan.ErrOperationID) || id != (plan.OperationID{}) || !strings.Contains(err.Error(), "got") {
			t.Errorf("%q is read as %+v (%v)", text, id, err)
		}
	}
	if plan.ValidID("") || !plan.ValidID(strings.Repeat("x", 64)) || plan.ValidID(strings.Repeat("x", 65)) {
		t.Error("an id has 1 to 64 characters")
	}
}

func TestWhatIsAPath(t *testing.T) {
	for text, want := range map[string]plan.DataPath{"a.result": {Source: "a"}, "a-1.result.area_id": {Source: "a-1", Field: "area_id"}} {
		if got, err := plan.ParsePath(text); err != nil || got != want {
			t.Errorf("%q is read as %+v (%v)", text, got, err)
		}
	}
	for _, text := range []string{"", "a", "a.results", "a.result.", "a.result.b.c", ".result", "a b.result", "a.result.b c", "a.state.b"} {
		if got, err := plan.ParsePath(text); !errors.Is(err, plan.ErrPath) || got != (plan.DataPath{}) {
			t.Errorf("%q is read as %+v (%v)", text, got, err)
		}
	}
}

// The schema is JSON, and each caller has one of its own.
func TestTheSchemaIsTheCallersOwn(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(plan.Schema(), &schema); err != nil || schema["$schema"] == nil {
		t.Fatalf("%v: %v", schema, err)
	}
	plan.Schema()[0] = 'x'
	if plan.Schema()[0] == 'x' {
		t.Error("one caller's change is another's")
	}
}

// Rooms are those that have an id and a name, of a map that is not said to be unavailable.
func TestTheRoomsOfAContext(t *testing.T) {
	rooms := []any{map[string]any{"id": "1", "name": "거실"}, map[string]any{"id": "2"}, map[string]any{"name": "x"}, "x", map[string]any{"id": 3.0, "name": "y"}}
	for name, c := range map[string]struct {
		area any
		want int
	}{
		"available": {map[string]any{"available": true, "rooms": rooms}, 1}, "not said": {map[string]any{"rooms": rooms}, 1},
		"unavailable": {map[string]any{"available": false, "rooms": rooms}, 0}, "no rooms": {map[string]any{"available": true}, 0}, "no map": {"x", 0},
	} {
		got := plan.RoomsOf(map[string]any{"map": c.area})
		if len(got) != c.want || c.want == 1 && got[0] != (catalog.Room{ID: "1", Name: "거실"}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := plan.RoomsOf(nil); got != nil {
		t.Errorf("of no context: %+v", got)
	}
}
