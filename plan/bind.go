package plan

import (
	"fmt"
	"maps"

	"errand/catalog"
)

// bindArguments fills the slots of a step: its own arguments, and values from results over both borders of law 3.
// It never falls back to a whole result in place of a field. A report means that nothing may be submitted.
func (s *State) bindArguments(i int) (map[string]any, *Report) {
	spec, dest := &s.Document.Steps[i], s.capability(i)
	arguments := make(map[string]any, len(spec.Action.Arguments)+len(spec.InputFrom))
	maps.Copy(arguments, spec.Action.Arguments)
	for _, name := range sortedKeys(spec.InputFrom) {
		path := spec.InputFrom[name]
		value, why := s.resolve(path)
		if why == "" {
			why = fits(dest, name, value)
		}
		if why != "" {
			return nil, &Report{Code: "STEP_RESULT_BINDING_FAILED", RequiresDecision: true,
				Params: map[string]any{"slot": name, "path": path},
				Detail: fmt.Sprintf("steps.%s.input_from.%s: %s: %s", spec.ID, name, path, why)}
		}
		arguments[name] = value
	}
	return arguments, nil
}

// resolve reads a path from the results that are known: the first border.
func (s *State) resolve(path string) (any, string) {
	p, err := ParsePath(path)
	if err != nil {
		return nil, err.Error()
	}
	j := s.Document.source(p.Source)
	if j < 0 {
		return nil, "there is no such step"
	}
	if !s.Steps[j].done() {
		return nil, "its step is not completed"
	}
	contract := contractOf(&s.Document.Steps[j], s.capability(j))
	p = p.from(contract)
	result := s.Steps[j].Result
	if p.Field == "" {
		if !contract.Envelope {
			return nil, "the capability does not give its whole result away"
		}
		if len(result) == 0 {
			return nil, "the result has none of the listed fields"
		}
		return maps.Clone(result), ""
	}
	if _, listed := contract.Field(p.Field); !listed {
		return nil, "the capability does not list the field"
	}
	value, ok := result[p.Field]
	if !ok {
		return nil, "the result does not have the field"
	}
	return value, ""
}

// fits checks a value against the slot it is for: the second border.
func fits(dest *catalog.Capability, name string, value any) string {
	slot, ok := dest.Slot(name)
	if !ok {
		return "the capability " + dest.ID + " has no slot " + name
	}
	if wrong := slot.Schema.Check(value); wrong != "" {
		return "the value " + wrong
	}
	return ""
}
