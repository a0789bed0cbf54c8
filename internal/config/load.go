package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// Prefix starts the name of every variable of ours.
const Prefix = "ERRAND"

// ErrSettings is wrapped by every error of Load, so that a main can tell wrong settings from a failure.
var ErrSettings = errors.New("the settings are not usable")

// Validator is implemented by settings whose fields depend on each other.
type Validator interface {
	// Validate returns everything wrong with the loaded settings, joined.
	Validate() error
}

// Load fills spec, a pointer to a struct, from the environment. The error names every variable that is wrong or
// missing, not just the first, and what each is for.
func Load(spec any) error {
	var problems []error
	for _, f := range fields(reflect.ValueOf(spec).Elem()) {
		if err := loadField(f); err != nil {
			problems = append(problems, err)
		}
	}
	if v, ok := spec.(Validator); ok && len(problems) == 0 {
		if err := v.Validate(); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\n`errand config` lists every setting", ErrSettings,
		strings.ReplaceAll(errors.Join(problems...).Error(), "\n", "\n  "))
}

// field is one setting: where its value goes and how it is described.
type field struct {
	value reflect.Value
	typ   reflect.StructField
}

// fields lists the settings of a struct, those of embedded structs included.
func fields(s reflect.Value) []field {
	var all []field
	for i := range s.NumField() {
		typ := s.Type().Field(i)
		switch {
		case typ.Anonymous && typ.Type.Kind() == reflect.Struct:
			all = append(all, fields(s.Field(i))...)
		case typ.IsExported() && typ.Tag.Get("ignored") != "true":
			all = append(all, field{value: s.Field(i), typ: typ})
		}
	}
	return all
}

// loadField has envconfig read one field by itself: it stops at its first problem, and we want them all.
func loadField(f field) error {
	alone := reflect.New(reflect.StructOf([]reflect.StructField{{Name: f.typ.Name, Type: f.typ.Type, Tag: f.typ.Tag}}))
	if err := envconfig.Process(Prefix, alone.Interface()); err != nil {
		return explain(f, err)
	}
	f.value.Set(alone.Elem().Field(0))
	if f.typ.Tag.Get("required") == "true" && f.value.IsZero() {
		return fmt.Errorf("%s is empty: %s", f.name(), f.meaning())
	}
	return nil
}

func explain(f field, err error) error {
	var parse *envconfig.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("%s is not set: %s", f.name(), f.meaning())
	}
	shown := fmt.Sprintf("%q", parse.Value)
	if f.secret() {
		shown = "its value"
	}
	return fmt.Errorf("%s: %s is not %s: %s", f.name(), shown, kindName(f.typ.Type), f.meaning())
}

// kindName says what a value must look like.
func kindName(t reflect.Type) string {
	switch {
	case t.String() == "time.Duration":
		return "a duration such as 30s or 5m"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return "a whole number"
	case t.Kind() == reflect.Map:
		return "a list such as name:value,name:value, without a colon or a comma in a value"
	case t.Kind() == reflect.Float64, t.Kind() == reflect.Float32:
		return "a number"
	}
	return "readable as " + t.String()
}

// The two expressions are envconfig's own way of splitting a field's name into words (split_words).
var (
	words   = regexp.MustCompile("([^A-Z]+|[A-Z]+[^A-Z]+|[A-Z]+)")
	acronym = regexp.MustCompile("^([A-Z]+)([A-Z][^A-Z]+)")
)

// name is the variable's name, e.g. ERRAND_API_LISTEN.
func (f field) name() string {
	key := f.typ.Name
	if f.typ.Tag.Get("split_words") == "true" {
		var parts []string
		for _, word := range words.FindAllString(key, -1) {
			if m := acronym.FindStringSubmatch(word); len(m) == 3 {
				parts = append(parts, m[1], m[2])
			} else {
				parts = append(parts, word)
			}
		}
		key = strings.Join(parts, "_")
	}
	return strings.ToUpper(Prefix + "_" + key)
}

func (f field) secret() bool { return f.typ.Tag.Get("secret") == "true" }

func (f field) meaning() string {
	meaning := f.typ.Tag.Get("desc")
	if unit := f.typ.Tag.Get("unit"); unit != "" {
		meaning += " (" + unit + ")"
	}
	return meaning
}

// set reports whether the environment gives the variable at all.
func (f field) set() bool {
	_, ok := os.LookupEnv(f.name())
	return ok
}
