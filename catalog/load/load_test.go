package load_test

import (
	"testing"

	"errand/catalog/load"
)

func TestBuiltinIsSound(t *testing.T) {
	t.Parallel()
	if _, err := load.Parse("builtin.yaml", load.BuiltinFile()); err != nil {
		t.Fatalf("\n%v", err)
	}
}
