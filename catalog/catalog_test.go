package catalog_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
)

func ptr[T any](v T) *T { return &v }

func TestSlotSchemaCheck(t *testing.T) {
	t.Parallel()
	text := catalog.SlotSchema{Type: "string", MinLength: ptr(2), MaxLength: ptr(3)}
	stage := catalog.SlotSchema{Type: "string", Enum: []string{"0-1", "1"}}
	percent := catalog.SlotSchema{Type: "number", Minimum: ptr(0.0), Maximum: ptr(100.0)}
	tests := []struct {
		schema catalog.SlotSchema
		value  any
		wrong  string
	}{
		{text, "안방", ""}, {text, "아이방", ""}, {text, "방", "has 1 characters, needs at least 2"}, {text, "아이 방방", "has 5 characters, may have 3"},
		{text, 6.0, "must be a string, is a number"}, {text, nil, "must be a string, is null"},
		{stage, "1", ""}, {stage, "2", "is not one of 0-1, 1"}, {stage, 1.0, "must be a string, is a number"},
		{percent, 41.5, ""}, {percent, 0.0, ""}, {percent, 100.0, ""}, {percent, -1.0, "is below 0"}, {percent, 101.0, "is above 100"}, {percent, "41", "must be a number, is a string"},
		{catalog.SlotSchema{Type: "integer"}, 4.0, ""}, {catalog.SlotSchema{Type: "integer"}, 4.5, "is not a whole number"},
		{catalog.SlotSchema{Type: "integer"}, true, "must be a integer, is a boolean"},
		{catalog.SlotSchema{Type: "boolean"}, false, ""}, {catalog.SlotSchema{Type: "boolean"}, []any{}, "must be true or false, is a list"},
		{catalog.SlotSchema{Type: "object"}, map[string]any{}, ""}, {catalog.SlotSchema{Type: "object"}, "x", "must be an object, is a string"},
		{catalog.SlotSchema{Type: "object"}, struct{}{}, "must be an object, is struct {}"},
		{text, map[string]any{}, "must be a string, is an object"}, {catalog.SlotSchema{Type: "number"}, -1e9, ""}, {catalog.SlotSchema{Type: "string"}, "", ""},
		{catalog.SlotSchema{Type: "list"}, "x", `the catalog gives it the unknown type "list"`},
	}
	for _, tt := range tests {
		if got := tt.schema.Check(tt.value); got != tt.wrong {
			t.Errorf("%s of %v: got %q, want %q", tt.schema.Type, tt.value, got, tt.wrong)
		}
	}
}

func TestLaw04OnlyListedFieldsSurvive(t *testing.T) {
	t.Parallel()
	contract := catalog.ResultContract{BindableResultFields: []catalog.ResultField{
		{Name: "area_id", Schema: catalog.SlotSchema{Type: "string"}}, {Name: "pm25", Schema: catalog.SlotSchema{Type: "number"}},
	}}
	got := contract.Filter(map[string]any{"area_id": "6", "pm25": "mistyped", "raw_pose": map[string]any{"x": 1.0}, "token": "secret"})
	if want := map[string]any{"area_id": "6"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.MapOf(rapid.SampledFrom([]string{"area_id", "pm25", "x", "Area_ID", ""}),
			rapid.OneOf(rapid.Just[any](nil), rapid.Just[any]("6"), rapid.Just[any](1.0), rapid.Just[any](map[string]any{"area_id": "6"}))).Draw(t, "raw")
		for name, value := range contract.Filter(raw) {
			field, listed := contract.Field(name)
			if !listed || field.Schema.Check(value) != "" {
				t.Fatalf("%s=%v got through", name, value)
			}
		}
	})
}

func TestSliceCarriesWhatAPlanNeeds(t *testing.T) {
	t.Parallel()
	c := &catalog.Catalog{CatalogVersion: "1", Digest: "sha256:x",
		Capabilities: []catalog.Capability{{ID: "move", Operations: []string{"start"}}, {ID: "clean"}, {ID: "say", Targets: []string{"cloud"}}},
		Reasons:      []catalog.Reason{{Code: "BATTERY_LOW", Default: "return"}}, Sentences: map[string]catalog.Text{"done": {Ko: "끝", En: "done"}}}
	s := c.Slice([]string{"say", "move", "unknown"})
	if len(s.Capabilities) != 2 || s.Capabilities[0].ID != "move" || s.Digest != c.Digest || len(s.Sentences) != 1 {
		t.Errorf("got %+v", s)
	}
	if _, ok := s.Capability("clean"); ok {
		t.Error("holds a capability nobody asked for")
	}
	move, ok := s.Capability("move")
	if !ok || !move.HasOperation("start") || move.HasOperation("stop") || !move.RunsOn("device") || move.RunsOn("cloud") {
		t.Errorf("move: %+v", move)
	}
	if say, _ := s.Capability("say"); !say.RunsOn("cloud") || say.RunsOn("device") {
		t.Errorf("say: %+v", say)
	}
	if whole := c.Whole(); len(whole.Capabilities) != 3 {
		t.Errorf("the whole has %d capabilities", len(whole.Capabilities))
	}
}

// Any plan may have to go back, whatever it was to do: its slice can always say how.
func TestASliceCanAlwaysGoBack(t *testing.T) {
	t.Parallel()
	c := &catalog.Catalog{CatalogVersion: "1", Digest: "sha256:x", SafeReturn: &catalog.SafeReturn{CapabilityID: "dock", OperationID: "start"},
		Capabilities: []catalog.Capability{{ID: "move"}, {ID: "clean"}, {ID: "dock"}}, Reasons: []catalog.Reason{{Code: "A"}}}
	for name, s := range map[string]catalog.Slice{"a slice": c.Slice([]string{"move"}), "the whole": c.Whole()} {
		if _, ok := s.Capability("dock"); !ok || s.SafeReturn == nil || s.CatalogVersion != "1" || s.Digest != "sha256:x" || len(s.Reasons) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestASliceTakesWhatItLacksOfAnother(t *testing.T) {
	t.Parallel()
	c := &catalog.Catalog{Capabilities: []catalog.Capability{{ID: "move"}, {ID: "clean"}, {ID: "dock"}}}
	move, more := c.Slice([]string{"move"}), c.Slice([]string{"dock", "move"})
	both := move.With(&more)
	if len(both.Capabilities) != 2 || both.Capabilities[0].ID != "move" || both.Capabilities[1].ID != "dock" {
		t.Errorf("both: %+v, want move and dock, each once", both.Capabilities)
	}
	if len(move.Capabilities) != 1 || len(move.With(nil).Capabilities) != 1 {
		t.Errorf("move: %+v", move.Capabilities)
	}
}

func TestReasonOutsideTheTableStopsAndAsks(t *testing.T) {
	t.Parallel()
	s := catalog.Slice{Reasons: []catalog.Reason{{Code: "BATTERY_LOW", Default: "return"}}}
	if got := s.Reason("BATTERY_LOW"); got.Default != "return" {
		t.Errorf("got %+v", got)
	}
	for _, code := range []string{"NEW_CODE", ""} {
		got := s.Reason(code)
		want := map[string]string{"": "UNKNOWN", "NEW_CODE": "NEW_CODE"}[code]
		if !got.RequiresDecision || got.Recovery.Action != "none" || got.Default != "cancel" || got.Code != want {
			t.Errorf("%q: got %+v", code, got)
		}
	}
}

func TestTextReadsKoreanUnlessEnglishIsAsked(t *testing.T) {
	t.Parallel()
	text := catalog.Text{Ko: "끝", En: "done"}
	for locale, want := range map[string]string{"ko-KR": "끝", "": "끝", "en": "done", "EN-us": "done", "fr": "끝", "e": "끝"} {
		if got := text.In(locale); got != want {
			t.Errorf("%q: got %q", locale, got)
		}
	}
	if got := (catalog.Text{Ko: "끝"}).In("en"); got != "끝" {
		t.Errorf("without English: got %q", got)
	}
}

func TestSlotAndFieldAreFoundByName(t *testing.T) {
	t.Parallel()
	c := catalog.Capability{Slots: []catalog.Slot{{Name: "speed"}, {Name: "area_id"}}}
	if slot, ok := c.Slot("area_id"); !ok || slot.Name != "area_id" {
		t.Errorf("a declared slot is not found: %+v", slot)
	}
	contract := catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: "pm25"}, {Name: "area_id"}}}
	if field, ok := contract.Field("area_id"); !ok || field.Name != "area_id" {
		t.Errorf("a listed field is not found: %+v", field)
	}
	if _, ok := c.Slot("AREA_ID"); ok {
		t.Error("names are exact")
	}
	if _, ok := c.ResultContract.Field("area_id"); ok {
		t.Error("an empty contract lists a field")
	}
}

// What a device adds to a result beyond its contract goes nowhere.
func ExampleResultContract_Filter() {
	contract := catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: "area_id", Schema: catalog.SlotSchema{Type: "string"}}}}
	fmt.Println(contract.Filter(map[string]any{"area_id": "6", "camera_frame": "…"}))
	// Output:
	// map[area_id:6]
}
