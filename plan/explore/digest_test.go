package explore

import (
	"reflect"
	"testing"

	"errand/plan"
)

// TestEveryFieldCounts changes each field of a state, however deep, and wants another sum: none is overlooked, and a new one
// cannot be.
func TestEveryFieldCounts(t *testing.T) {
	state := plan.State{
		Steps: []plan.StepState{{Ops: []plan.Operation{{Terminal: &plan.Event{Report: &plan.Report{}}, Progress: &plan.Progress{}}},
			Result: map[string]any{"area": "6"}, Receipt: &plan.Receipt{}, Recovered: map[string]int{"MEND": 1}}},
		Device: plan.DeviceState{Route: &plan.Route{}}, Cancel: &plan.Latch{}, Ending: &plan.Ending{Report: &plan.Report{}}, Pauses: []string{""},
		Question: &plan.Question{Choices: []string{""}}, Boundary: &plan.Boundary{}, Seen: []plan.SeenEpoch{{Seqs: []int64{0}}}, Outcome: &plan.Outcome{},
	}
	sum := func() uint64 {
		d := newDigest()
		d.value(state)
		return d.sum
	}
	before := sum()
	changed := 0
	leaves(reflect.ValueOf(&state).Elem(), "State", func(path string, v reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		change(v)
		if sum() == before {
			t.Errorf("%s makes no difference", path)
		}
		v.Set(old)
		changed++
	})
	if after := sum(); after != before || changed < 150 {
		t.Errorf("%d fields were tried; the sum of the same state is %x, was %x", changed, after, before)
	}
}

// leaves visits every field that holds a plain value.
func leaves(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			leaves(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), path, visit)
		}
	case reflect.Map:
		visit(path, v)
	case reflect.Interface:
	default:
		visit(path, v)
	}
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Elem().Kind() == reflect.Interface {
			v.SetMapIndex(reflect.ValueOf("other").Convert(v.Type().Key()), reflect.ValueOf(1.0))
			return
		}
		v.SetMapIndex(reflect.ValueOf("other").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	default:
		panic("a field of an unforeseen kind: " + v.Kind().String())
	}
}

func TestTheSumOfAMapDoesNotDependOnItsOrder(t *testing.T) {
	m := map[string]any{"a": "1", "b": 2.0, "c": []any{"x", true}, "d": map[string]any{"e": nil}}
	want := newDigest()
	want.value(m)
	for range 50 {
		got := newDigest()
		got.value(m)
		if got.sum != want.sum {
			t.Fatal("two sums of one map differ")
		}
	}
	nested := newDigest()
	nested.value(map[string]any{"a": map[string]any{"b": secret}})
	if !nested.found || want.found {
		t.Error("the secret was not found, or where it is not")
	}
}
