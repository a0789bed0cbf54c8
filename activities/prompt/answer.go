package prompt

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"errand/internal/border"
	"errand/plan"
)

// Proposal is a model's answer to Plan.
type Proposal struct {
	Document plan.Document
	// Unplanned is why there are no steps.
	Unplanned string
}

// ReadPlan reads a model's plan strictly: JSON within limits, of the contract's shape, and with no field that a plan does
// not have. Whoever else sends a plan may send more, which is ignored; what a model adds is a claim that something counts
// which does not, such as an impact of its own.
//
// No steps are no fault: then there is no plan. The rest is the gate's to judge: see Setting.Faults.
func ReadPlan(text string) (Proposal, border.Faults) {
	tree, faults := parse(text)
	if faults != nil {
		return Proposal{}, faults
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return Proposal{}, border.Faults{{Code: "wrong_type", Message: "must be a JSON object"}}
	}
	proposal := Proposal{}
	proposal.Unplanned, _ = fields["unplanned"].(string)
	delete(fields, "unplanned")
	faults = Strict("", tree, reflect.TypeFor[plan.Document]())
	doc, err := plan.Decode([]byte(encode(tree)))
	proposal.Document = doc
	return proposal, append(faults, asFaults(err)...)
}

// ReadSteps reads the steps of any other answer, such as a decision's, as strictly as ReadPlan. path is where they stand.
func ReadSteps(steps any) ([]plan.StepSpec, border.Faults) {
	tree := map[string]any{"steps": withoutNulls(steps)}
	faults := Strict("", tree, reflect.TypeFor[plan.Document]())
	doc, err := plan.Decode([]byte(encode(tree)))
	return doc.Steps, append(faults, asFaults(err)...)
}

// parse reads JSON within the limits of a plan, without the nulls that some models write for what they leave out.
func parse(text string) (any, border.Faults) {
	tree, err := border.Parse([]byte(text), border.DefaultLimits)
	if err != nil {
		return nil, asFaults(err)
	}
	return withoutNulls(tree), nil
}

func asFaults(err error) border.Faults {
	var faults border.Faults
	switch {
	case err == nil:
		return nil
	case errors.As(err, &faults):
		return faults
	}
	return border.Faults{{Code: "unreadable", Message: err.Error()}}
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, value any) bool { return value == nil })
		for name := range v {
			v[name] = withoutNulls(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

// Strict faults every field of a tree that the type it is for does not have. What is free there, such as arguments, is the
// gate's to judge.
func Strict(path string, tree any, t reflect.Type) (faults border.Faults) {
	switch v := tree.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for i, item := range v {
				faults = append(faults, Strict(border.Index(path, i), item, t.Elem())...)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil
		}
		known := fieldsOf(t)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if field, ok := known[name]; ok {
				faults = append(faults, Strict(border.Field(path, name), v[name], field)...)
				continue
			}
			faults = append(faults, border.Fault{Path: border.Field(path, name), Code: "unknown_field",
				Message: fmt.Sprintf("there is no such field: what a step may do, and what it may cost, is the catalog's to say; leave %q out", name)})
		}
	}
	return faults
}

// fieldsOf lists the JSON names of a struct's fields.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}
