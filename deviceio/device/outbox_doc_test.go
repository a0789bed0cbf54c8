package device

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes that OUTBOX.md shows are bytes that this code writes and reads.
func TestOutboxDocumentShowsRealBytes(t *testing.T) {
	text, err := os.ReadFile("OUTBOX.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "## Example")
	require.True(t, ok)
	blocks := strings.Split(rest, "```")
	require.Len(t, blocks, 5)
	_, before, _ := strings.Cut(blocks[1], "\n")
	_, example, _ := strings.Cut(blocks[3], "\n")
	whole, err := parseHistory("OUTBOX.md", []byte(before))
	require.NoError(t, err)
	h, err := parseHistory("OUTBOX.md", []byte(example))
	require.NoError(t, err)
	require.Equal(t, int64(len(example)), h.end)
	require.Equal(t, whole.pending, h.pending, "compacting changes nothing that matters")
	require.Equal(t, whole.boots, h.boots)
	require.Equal(t, whole.done, h.done)
	require.Len(t, h.boots, 2)
	require.Len(t, h.pending, 1)
	require.Equal(t, "5d0c21f09ab3e877-1", h.pending[0].EventID)
	require.Equal(t, []doneRecord{{"p-1/move/1/COMPLETED", "3f9c2a1d77e0b1c4-2"}}, h.done)

	var again []byte
	for line := range strings.Lines(before + example) {
		records, why := parseLine([]byte(strings.TrimSuffix(line, "\n")))
		require.Empty(t, why)
		again, err = appendLine(again, records...)
		require.NoError(t, err)
	}
	require.Equal(t, before+example, string(again))
}
