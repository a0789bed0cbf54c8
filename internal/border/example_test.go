package border_test

import (
	"fmt"

	"errand/internal/border"
)

// Everything wrong is reported at once, with paths into the document.
func ExampleDecode() {
	schema := border.MustCompile("step", []byte(`{
	  "type": "object", "required": ["id", "operation"],
	  "properties": {"id": {"type": "string"}, "target": {"enum": ["device", "cloud"]}}}`))
	var step struct{ ID, Operation string }

	err := border.Decode([]byte(`{"id": 7, "target": "moon"}`), border.DefaultLimits, schema, &step)
	fmt.Println(err)
	// Output:
	// id: must be a string, is a number
	// operation: is missing and must be given
	// target: is "moon", must be one of "device", "cloud"
}
