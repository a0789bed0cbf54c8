package explore

import (
	"fmt"
	"reflect"
	"unsafe"

	"errand/plan"
)

// adder adds the value of one type that stands at a place in memory to a digest. It is compiled from the type itself, so that
// a field that is added to the machine's state counts at once: what does not matter is blanked by name in canon.go, and
// nowhere else. A field is reached by its offset, since that is a third of an exploration's time by reflection.
type adder func(d *digest, at unsafe.Pointer)

// adders holds what was compiled for each type.
type adders map[reflect.Type]adder

// compiled is filled once, with what explorations meet, and only read after that.
var compiled = foresee(plan.State{}, plan.MakePlan{}, plan.Submit{}, plan.CancelTask{}, plan.QueryStatus{}, plan.FetchContext{}, plan.Verify{}, plan.Prepare{}, plan.Prepared{},
	plan.Ask{}, plan.WithdrawQuestion{}, plan.Say{}, plan.Decide{}, plan.Finish{}, plan.Submitted{}, plan.StatusReported{}, plan.CancelAnswered{},
	"", 0.0, false, map[string]any{}, []any{})

// value adds any value.
func (d *digest) value(v any) { compiled.value(d, v) }

// value adds any value. Behind an interface it has no place that may be pointed to, so it gets one.
func (known adders) value(d *digest, v any) {
	switch plain := v.(type) {
	case nil:
		d.word(3)
	case string:
		d.text(plain)
	case map[string]any:
		known.members(d, plain)
	default:
		own := reflect.New(reflect.TypeOf(v))
		own.Elem().Set(reflect.ValueOf(v))
		known.of(own.Type().Elem())(d, own.UnsafePointer())
	}
}

// members adds the pairs of a map in any order: each has a sum of its own.
func (known adders) members(d *digest, m map[string]any) {
	all, before := uint64(len(m)), d.sum
	for name, v := range m {
		d.sum = seed
		d.text(name)
		known.value(d, v)
		all += d.sum
	}
	d.sum = before
	d.word(all)
}

func (known adders) of(t reflect.Type) adder {
	if add, ok := known[t]; ok {
		return add
	}
	return compile(t, adders{}) // a type that was not foreseen: right, and slow
}

// foresee compiles the adders of types once.
func foresee(values ...any) adders {
	known := adders{}
	for _, v := range values {
		compile(reflect.TypeOf(v), known)
	}
	return known
}

// compile makes the adder of a type.
func compile(t reflect.Type, known adders) adder {
	if add, ok := known[t]; ok {
		return add
	}
	known[t] = func(d *digest, at unsafe.Pointer) { known[t](d, at) } // for types that hold themselves
	add := compileKind(t, known)
	known[t] = add
	return add
}

// compileKind makes the adder of a type by its kind. One that has no meaning in a state is a mistake of whoever put it there.
func compileKind(t reflect.Type, known adders) adder {
	switch t.Kind() {
	case reflect.Bool:
		return func(d *digest, at unsafe.Pointer) { d.truth(*(*bool)(at)) }
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		return func(d *digest, at unsafe.Pointer) { d.word(*(*uint64)(at)) }
	case reflect.Int32, reflect.Uint32:
		return func(d *digest, at unsafe.Pointer) { d.word(uint64(*(*uint32)(at))) }
	case reflect.Int8, reflect.Uint8:
		return func(d *digest, at unsafe.Pointer) { d.word(uint64(*(*uint8)(at))) }
	case reflect.Float64:
		return func(d *digest, at unsafe.Pointer) { d.word(uint64(*(*float64)(at) * 1e6)) }
	case reflect.String:
		return func(d *digest, at unsafe.Pointer) { d.text(*(*string)(at)) }
	case reflect.Struct:
		return compileStruct(t, known)
	case reflect.Pointer:
		return compilePointer(t, known)
	case reflect.Interface:
		return func(d *digest, at unsafe.Pointer) { known.value(d, reflect.NewAt(t, at).Elem().Interface()) }
	case reflect.Slice:
		return compileSlice(t, known)
	case reflect.Array:
		return compileArray(t.Elem(), t.Len(), known)
	case reflect.Map:
		return compileMap(t, known)
	default:
		panic(fmt.Sprintf("explore: a state holds a %s: nobody can say whether two of those are the same", t))
	}
}

func compilePointer(t reflect.Type, known adders) adder {
	inner := compile(t.Elem(), known)
	return func(d *digest, at unsafe.Pointer) {
		to := *(*unsafe.Pointer)(at)
		if to == nil {
			d.word(4)
			return
		}
		d.word(5)
		inner(d, to)
	}
}

func compileStruct(t reflect.Type, known adders) adder {
	type field struct {
		offset uintptr
		add    adder
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		fields[i] = field{t.Field(i).Offset, compile(t.Field(i).Type, known)}
	}
	return func(d *digest, at unsafe.Pointer) {
		for i := range fields {
			fields[i].add(d, unsafe.Add(at, fields[i].offset))
		}
	}
}

func compileArray(elem reflect.Type, n int, known adders) adder {
	inner, size := compile(elem, known), elem.Size()
	return func(d *digest, at unsafe.Pointer) {
		for i := range n {
			inner(d, unsafe.Add(at, uintptr(i)*size))
		}
	}
}

func compileSlice(t reflect.Type, known adders) adder {
	inner, size := compile(t.Elem(), known), t.Elem().Size()
	return func(d *digest, at unsafe.Pointer) {
		list := *(*[]struct{})(at) // whatever it holds: its length, and where it begins
		d.word(uint64(len(list)))
		first := unsafe.Pointer(unsafe.SliceData(list))
		for i := range list {
			inner(d, unsafe.Add(first, uintptr(i)*size))
		}
	}
}

// compileMap adds the pairs in any order, as members does.
func compileMap(t reflect.Type, known adders) adder {
	if t == reflect.TypeFor[map[string]any]() {
		return func(d *digest, at unsafe.Pointer) { known.members(d, *(*map[string]any)(at)) }
	}
	key, inner := compile(t.Key(), known), compile(t.Elem(), known)
	return func(d *digest, at unsafe.Pointer) {
		m := reflect.NewAt(t, at).Elem()
		if m.Len() == 0 {
			d.word(0)
			return
		}
		all, before := uint64(m.Len()), d.sum
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		for pairs := m.MapRange(); pairs.Next(); {
			k.Elem().SetIterKey(pairs)
			v.Elem().SetIterValue(pairs)
			d.sum = seed
			key(d, k.UnsafePointer())
			inner(d, v.UnsafePointer())
			all += d.sum
		}
		d.sum = before
		d.word(all)
	}
}
