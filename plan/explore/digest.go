package explore

import (
	"fmt"
	"math/bits"
	"reflect"

	"errand/plan"
)

// digest is a 64-bit sum over everything in a value: every field of every struct, however deep. It reads the types
// themselves, so that a field that is added to the machine's state counts at once: what does not matter is blanked by name
// in canon.go, and nowhere else.
type digest struct {
	sum uint64
	// found says that the secret was among the texts (law 4).
	found bool
}

const (
	seed  = 0x9e3779b97f4a7c15
	prime = 0xa0761d6478bd642f
)

func newDigest() digest { return digest{sum: seed} }

func (d *digest) word(x uint64) {
	hi, lo := bits.Mul64(d.sum^x, prime)
	d.sum = hi ^ lo ^ seed
}

func (d *digest) text(s string) {
	if s == secret {
		d.found = true
	}
	d.word(uint64(len(s)))
	var word uint64
	for i := range len(s) {
		word = word<<8 | uint64(s[i])
		if i&7 == 7 {
			d.word(word)
			word = 0
		}
	}
	if len(s)&7 != 0 {
		d.word(word)
	}
}

func (d *digest) truth(b bool) {
	if b {
		d.word(1)
		return
	}
	d.word(2)
}

// value adds any value.
func (d *digest) value(v any) {
	if v == nil {
		d.word(3)
		return
	}
	r := reflect.ValueOf(v)
	compiled.of(r.Type())(d, r)
}

// adder adds a value of one type.
type adder func(d *digest, v reflect.Value)

// adders holds what was compiled for each type.
type adders map[reflect.Type]adder

// compiled is filled once, with what explorations meet, and only read after that.
var compiled = foresee(plan.State{}, plan.MakePlan{}, plan.Submit{}, plan.CancelTask{}, plan.QueryStatus{}, plan.FetchContext{}, plan.Verify{}, plan.Prepare{}, plan.Prepared{},
	plan.Ask{}, plan.WithdrawQuestion{}, plan.Say{}, plan.Decide{}, plan.Finish{}, plan.Submitted{}, plan.StatusReported{}, plan.CancelAnswered{},
	"", 0.0, false, map[string]any{}, []any{})

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

// compile makes the adder of a type. A kind that has no meaning in a state is a mistake of whoever put it there.
func compile(t reflect.Type, known adders) adder {
	if add, ok := known[t]; ok {
		return add
	}
	known[t] = func(d *digest, v reflect.Value) { known[t](d, v) } // for types that hold themselves
	add := compileKind(t, known)
	known[t] = add
	return add
}

func compileKind(t reflect.Type, known adders) adder {
	switch t.Kind() {
	case reflect.Bool:
		return func(d *digest, v reflect.Value) { d.truth(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(d *digest, v reflect.Value) { d.word(uint64(v.Int())) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(d *digest, v reflect.Value) { d.word(v.Uint()) }
	case reflect.Float32, reflect.Float64:
		return func(d *digest, v reflect.Value) { d.word(uint64(v.Float() * 1e6)) }
	case reflect.String:
		return func(d *digest, v reflect.Value) { d.text(v.String()) }
	case reflect.Struct:
		return compileStruct(t, known)
	case reflect.Pointer:
		inner := compile(t.Elem(), known)
		return optional(func(d *digest, v reflect.Value) { inner(d, v.Elem()) })
	case reflect.Interface:
		return optional(func(d *digest, v reflect.Value) { known.of(v.Elem().Type())(d, v.Elem()) })
	case reflect.Slice, reflect.Array:
		return compileList(t, known)
	case reflect.Map:
		return compileMap(t, known)
	default:
		panic(fmt.Sprintf("explore: a state holds a %s: nobody can say whether two of those are the same", t))
	}
}

func optional(add adder) adder {
	return func(d *digest, v reflect.Value) {
		if v.IsNil() {
			d.word(4)
			return
		}
		d.word(5)
		add(d, v)
	}
}

func compileStruct(t reflect.Type, known adders) adder {
	fields := make([]adder, t.NumField())
	for i := range fields {
		fields[i] = compile(t.Field(i).Type, known)
	}
	return func(d *digest, v reflect.Value) {
		for i, add := range fields {
			add(d, v.Field(i))
		}
	}
}

func compileList(t reflect.Type, known adders) adder {
	inner := compile(t.Elem(), known)
	return func(d *digest, v reflect.Value) {
		n := v.Len()
		d.word(uint64(n))
		for i := range n {
			inner(d, v.Index(i))
		}
	}
}

// compileMap adds the pairs in any order: each has a sum of its own.
func compileMap(t reflect.Type, known adders) adder {
	key, inner := compile(t.Key(), known), compile(t.Elem(), known)
	return func(d *digest, v reflect.Value) {
		total := uint64(v.Len())
		for pairs := v.MapRange(); pairs.Next(); {
			pair := newDigest()
			key(&pair, pairs.Key())
			inner(&pair, pairs.Value())
			total += pair.sum
			d.found = d.found || pair.found
		}
		d.word(total)
	}
}
