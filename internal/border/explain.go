package border

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// english words the rare kinds that explain has no sentence for.
var english = message.NewPrinter(language.English)

// explain turns one finding of the validator into faults with our paths and sentences.
func explain(path string, found jsonschema.ErrorKind) Faults {
	one := func(code, format string, args ...any) Faults {
		return Faults{{Path: path, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	switch k := found.(type) {
	case *kind.Required:
		return each(path, k.Missing, "required", "is missing and must be given")
	case *kind.DependentRequired:
		return each(path, k.Missing, "required", "must be given together with "+k.Prop)
	case *kind.AdditionalProperties:
		return each(path, k.Properties, "unknown_field", "is not a known field: remove it, or check its spelling")
	case *kind.Type:
		return one("wrong_type", "must be %s, is %s", article(k.Want...), article(k.Got))
	case *kind.Enum:
		return one("not_allowed", "is %s, must be one of %s", show(k.Got), showAll(k.Want))
	case *kind.Const:
		return one("not_allowed", "is %s, must be %s", show(k.Got), show(k.Want))
	case *kind.Pattern:
		return one("bad_pattern", "is %s, must match %s", show(k.Got), k.Want)
	case *kind.Format:
		return one("bad_format", "is %s, which is not a valid %s", show(k.Got), k.Want)
	case *kind.FalseSchema:
		return one("unknown_field", "is not allowed here: remove it")
	}
	return explainSize(path, found)
}

// explainSize words the kinds that compare a size or a number with a bound.
func explainSize(path string, found jsonschema.ErrorKind) Faults {
	one := func(code, format string, args ...any) Faults {
		return Faults{{Path: path, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	switch k := found.(type) {
	case *kind.MinLength:
		return one("too_short", "has %d characters, needs at least %d", k.Got, k.Want)
	case *kind.MaxLength:
		return one("too_long", "has %d characters, may have %d", k.Got, k.Want)
	case *kind.MinItems:
		return one("too_few", "has %d items, needs at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		return one("too_many", "has %d items, may have %d", k.Got, k.Want)
	case *kind.MinProperties:
		return one("too_few", "has %d fields, needs at least %d", k.Got, k.Want)
	case *kind.MaxProperties:
		return one("too_many", "has %d fields, may have %d", k.Got, k.Want)
	case *kind.UniqueItems:
		return one("duplicate_item", "has the same item at positions %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.Minimum:
		return one("too_small", "is %s, must be at least %s", decimal(k.Got), decimal(k.Want))
	case *kind.ExclusiveMinimum:
		return one("too_small", "is %s, must be above %s", decimal(k.Got), decimal(k.Want))
	case *kind.Maximum:
		return one("too_big", "is %s, may be at most %s", decimal(k.Got), decimal(k.Want))
	case *kind.ExclusiveMaximum:
		return one("too_big", "is %s, must be below %s", decimal(k.Got), decimal(k.Want))
	}
	return one("bad_value", "does not fit: %s", found.LocalizedString(english))
}

// decimal prints a bound as people write it: 9.5, not 19/2.
func decimal(n *big.Rat) string {
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// each gives one fault per named field of the object at path.
func each(path string, names []string, code, sentence string) Faults {
	faults := make(Faults, len(names))
	for i, name := range names {
		faults[i] = Fault{Path: Field(path, name), Code: code, Message: sentence}
	}
	return faults
}

var articles = map[string]string{
	"array": "a list", "object": "an object", "string": "a string", "number": "a number",
	"integer": "a whole number", "boolean": "true or false", "null": "null",
}

func article(types ...string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = articles[t]
	}
	return strings.Join(words, " or ")
}

// show prints a value as JSON, cut to what fits a sentence.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return shorten(string(text))
}

func showAll(values []any) string {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = show(v)
	}
	return strings.Join(shown, ", ")
}
