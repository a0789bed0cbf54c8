package plan

import (
	"strings"
	"testing"

	"errand/catalog"
)

// Law 14: a model may not say who speaks, neither by a value nor by a result, in its first plan or in a later one.
func TestLaw14AModelClaimsNoAuthority(t *testing.T) {
	t.Parallel()
	text := catalog.SlotSchema{Type: "string"}
	slice := &catalog.Slice{Capabilities: []catalog.Capability{{ID: "come", Operations: []string{"start"}, Enabled: true,
		Slots:          []catalog.Slot{{Name: "speaker", Schema: text, Grounding: catalog.GroundingAuthority}, {Name: "how", Schema: text}},
		ResultContract: catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: "who", Schema: text}}}}}}
	come := func(arguments map[string]any, from map[string]string) []StepSpec {
		return []StepSpec{{ID: "a", Action: Action{CapabilityID: "come", OperationID: "start", Arguments: arguments}, InputFrom: from}}
	}
	for path, steps := range map[string][]StepSpec{
		"steps[0].action.arguments.speaker": come(map[string]any{"speaker": "owner"}, nil),
		"steps[0].input_from.speaker":       come(nil, map[string]string{"speaker": "b.result.who"}),
	} {
		if faults := Claims(steps, slice); len(faults) != 1 || faults[0].Path != path || faults[0].Code != "claims_authority" {
			t.Errorf("%v, want one at %s", faults, path)
		}
	}
	if faults := Claims(append(come(map[string]any{"how": "softly"}, nil), StepSpec{ID: "x", Action: Action{CapabilityID: "unknown"}}), slice); len(faults) != 0 {
		t.Errorf("what is no authority: %v", faults)
	}

	claimed, honest := &Document{Steps: come(map[string]any{"speaker": "owner"}, nil)}, &Document{Steps: come(nil, nil)}
	for _, fromModel := range []bool{true, false} {
		s, _ := Step(New(Start{PlanID: "p", DeviceID: "d", Utterance: &Utterance{Text: "?", DeviceContext: map[string]any{"snapshot_ts": 1.0}}}), 1, Begin{})
		s, _ = Step(s, 2, Planned{Document: claimed, Slice: slice, FromModel: fromModel})
		if refused := s.Ending != nil || s.Outcome != nil; refused != fromModel {
			t.Errorf("from a model %v: refused %v", fromModel, refused)
		}
	}
	s, _ := Step(New(Start{PlanID: "p", DeviceID: "d", Document: honest, Slice: slice}), 1, Begin{})
	for _, fromModel := range []bool{true, false} {
		r := revision{steps: []StepSpec{{ID: "b", Action: claimed.Steps[0].Action}}, slice: slice, fromModel: fromModel}
		if refused := strings.Contains(s.revisionFaults(r).Error(), "not a model's to say"); refused != fromModel {
			t.Errorf("a revision from a model %v: refused %v", fromModel, refused)
		}
	}
}
