package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

// A schema compiles when it is first checked against: a mistake in one must not wait for the first request.
func TestEverySchemaCompiles(t *testing.T) {
	files, err := filepath.Glob("schema/*.schema.json")
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotEmpty(t, border.MustCompile(file, text).Check(nil), "%s compiles, and takes no null", file)
	}
}
