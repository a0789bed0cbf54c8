package border_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"errand/internal/border"
)

var planSchema = border.MustCompile("plan-test", []byte(`{
  "type": "object",
  "required": ["steps"],
  "properties": {
    "steps": {"type": "array", "minItems": 1, "items": {
      "type": "object",
      "required": ["id", "action"],
      "properties": {
        "id": {"type": "string", "pattern": "^[a-z]+$"},
        "action": {"type": "object"},
        "target": {"enum": ["device", "cloud"]},
        "weight": {"type": "number", "minimum": 0, "maximum": 5},
        "tags": {"type": "array", "maxItems": 2, "uniqueItems": true},
        "note": {"type": "string", "minLength": 2, "maxLength": 3}
      }
    }}
  }
}`))

func TestCheckNamesEachFaultOnceInOrder(t *testing.T) {
	t.Parallel()
	tree, err := border.Parse([]byte(`{"steps":[
	  {"id":"move","action":{}},{"action":{}},{"id":7,"action":[]},{"id":"a","action":{},"target":"moon","weight":9.5},
	  {"id":"A","action":{},"weight":-1,"tags":[1,1],"note":"a"},{"id":"b"},{"id":"c","action":{}},{"id":"d","action":{}},
	  {"id":"e","action":{}},{"id":"f","action":{}},{"id":"g","action":{},"note":"long","tags":[1,2,3]}]}`), border.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"steps[1].id: is missing and must be given",
		"steps[2].action: must be an object, is a list",
		"steps[2].id: must be a string, is a number",
		`steps[3].target: is "moon", must be one of "device", "cloud"`,
		"steps[3].weight: is 9.5, may be at most 5",
		`steps[4].id: is "A", must match ^[a-z]+$`,
		"steps[4].note: has 1 characters, needs at least 2",
		"steps[4].tags: has the same item at positions 0 and 1",
		"steps[4].weight: is -1, must be at least 0",
		"steps[5].action: is missing and must be given",
		"steps[10].note: has 4 characters, may have 3",
		"steps[10].tags: has 3 items, may have 2",
	}
	for range 5 { // the order does not depend on map iteration
		if got := strings.Split(planSchema.Check(tree).Error(), "\n"); !reflect.DeepEqual(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestCheckPassesWhatFits(t *testing.T) {
	t.Parallel()
	tree := map[string]any{"steps": []any{map[string]any{"id": "move", "action": map[string]any{}, "unknown": 1.0}}}
	if faults := planSchema.Check(tree); faults != nil {
		t.Errorf("got %v", faults)
	}
}

func TestMustCompilePanicsWithTheName(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"broken": `{`, "wrong": `{"type": 7}`, "outside": `{"$ref": "file:///etc/hostname"}`, "remote": `{"$ref": "https://example.com/s"}`,
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), name) {
					t.Errorf("%s: panic %v does not name the schema", name, p)
				}
			}()
			_ = border.MustCompile(name, []byte(schema)).Check(nil)
		}()
	}
}

type trace struct {
	Workflow string `json:"cloud_workflow_id"`
}

type document struct {
	trace
	Seq    int64             `json:"seq"`
	Steps  []step            `json:"steps"`
	Named  map[string]step   `json:"named"`
	Parent *step             `json:"parent"`
	Free   map[string]any    `json:"free"`
	Raw    json.RawMessage   `json:"raw"`
	Paths  map[string]string `json:"paths"`
	Plain  string
	hidden string
	Never  string `json:"-"`
}

type step struct {
	ID string `json:"id"`
}

func TestDecodeFillsByExactNames(t *testing.T) {
	t.Parallel()
	var got document
	err := border.Decode([]byte(`{"seq":12,"SEQ":13,"Steps":[{"id":"x"}],"steps":[{"id":"a","ID":"b"}],
	  "named":{"K":{"Id":"c","id":"d"}},"parent":{"iD":"e"},"free":{"ID":1,"id":2},"raw":{"Z":1},"paths":{"A":"b"},
	  "Plain":"p","plain":"q","hidden":"h","Never":"n","-":"n","cloud_workflow_id":"w"}`), border.DefaultLimits, nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := document{trace: trace{Workflow: "w"}, Seq: 12, Steps: []step{{ID: "a"}}, Named: map[string]step{"K": {ID: "d"}}, Parent: &step{},
		Free: map[string]any{"ID": 1.0, "id": 2.0}, Raw: json.RawMessage(`{"Z":1}`), Paths: map[string]string{"A": "b"}, Plain: "p"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.hidden != "" || got.Never != "" {
		t.Errorf("filled a field that reads no key: %+v", got)
	}
}

func TestDecodeFailsWithFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in     string
		schema *border.Schema
		path   string
		code   string
	}{
		"broken JSON":      {`{`, planSchema, "", "bad_json"},
		"schema":           {`{"steps":[]}`, planSchema, "steps", "too_few"},
		"Go type":          {`{"seq":"x"}`, nil, "seq", "wrong_type"},
		"fraction for int": {`{"seq":1.5}`, nil, "seq", "wrong_type"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var into document
			faults := faultsOf(t, border.Decode([]byte(tt.in), border.DefaultLimits, tt.schema, &into))
			if len(faults) != 1 || faults[0].Path != tt.path || faults[0].Code != tt.code {
				t.Errorf("got %+v, want one %s at %q", faults, tt.code, tt.path)
			}
		})
	}
}

func TestFillRefusesWhatIsNoPointer(t *testing.T) {
	t.Parallel()
	if err := border.Fill(map[string]any{}, document{}); err == nil {
		t.Error("took a struct by value")
	}
	if err := border.Fill(map[string]any{}, nil); err == nil {
		t.Error("took nil")
	}
}

func TestPathsQuoteWhatWouldBeUnreadable(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		border.Field("", "a"):                             "a",
		border.Field("a", "안방"):                           "a.안방",
		border.Field("a", "b.c"):                          `a["b.c"]`,
		border.Field("a", ""):                             `a[""]`,
		border.Index(border.Field("steps", "x-1"), 2):     "steps.x-1[2]",
		border.Field("", strings.Repeat("k", 70)):         strings.Repeat("k", 64) + "…",
		border.Field(border.Index("", 0), "depends_on"):   "[0].depends_on",
		border.Field("f", strings.Repeat("k", 70)+" "):    `f["` + strings.Repeat("k", 64) + `…"]`,
		border.Fault{Message: "is broken"}.String():       "is broken",
		border.Fault{Path: "a", Message: "is b"}.String(): "a: is b",
		fmt.Sprint(border.Faults{}.Err()):                 "<nil>",
		fmt.Sprint(border.Faults{{Message: "one"}}.Err()): "one",
		fmt.Sprint(errors.Unwrap(border.Faults{}.Err())):  "<nil>",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
