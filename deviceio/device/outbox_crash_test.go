package device

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// moment is what was promised when the file had this size.
type moment struct {
	size    int
	pending []string
	keys    map[string]string
}

// script runs a history with everything in it and notes what was promised after each step.
func script(t *testing.T, dir string, opts OutboxOptions) (moments []moment, issued []string) {
	t.Helper()
	file := filepath.Join(dir, outboxName)
	var o *Outbox
	note := func() {
		stat, err := os.Stat(file)
		require.NoError(t, err)
		moments = append(moments, moment{int(stat.Size()), pendingIDs(o), maps.Clone(o.keys)})
	}
	step := func(e Entry) string {
		id := put(t, o, e)
		issued = append(issued, id)
		note()
		return id
	}
	ack := func(id string) { require.NoError(t, o.Ack(id)); note() }
	progress := entryOf("progress")
	progress.Droppable = true
	for boot := range 3 {
		var err error
		o, err = OpenOutbox(dir, quiet(opts))
		require.NoError(t, err)
		note()
		a := step(keyed(fmt.Sprintf("a-%d", boot)))
		step(progress)
		b := step(keyed(fmt.Sprintf("b-%d", boot)))
		ack(a)
		step(entryOf("안방"))
		ack(b)
		step(keyed("a-0"))
		step(entryOf("one more, for which something is dropped"))
		require.NoError(t, o.Close())
	}
	require.Positive(t, o.Stats().Dropped, "the script drops")
	return moments, slices.Compact(issued)
}

// Power may go at any byte of any write. Whatever a Put or an Ack had promised by then holds; nothing else appears,
// the order stays, and no number is ever given twice.
func TestLaw19OutboxSurvivesAPowerCutAtEveryByte(t *testing.T) {
	written := t.TempDir()
	moments, issued := script(t, written, OutboxOptions{MaxPending: 7})
	content, err := os.ReadFile(filepath.Join(written, outboxName))
	require.NoError(t, err)
	header := bytes.IndexByte(content, '\n') + 1

	dir := t.TempDir()
	file := filepath.Join(dir, outboxName)
	step := 1
	if testing.Short() {
		step = 17 // every opening syncs a disk
	}
	for cut := 0; cut <= len(content); cut += step {
		require.NoError(t, os.WriteFile(file, content[:cut], 0o600))
		o, err := OpenOutbox(dir, quiet(OutboxOptions{}))
		if cut < header { // the file is made whole: no crash of ours cuts it here
			var corrupt *CorruptError
			require.ErrorAs(t, err, &corrupt, "cut at %d", cut)
			continue
		}
		require.NoError(t, err, "cut at %d", cut)
		var want moment
		for _, m := range moments {
			if m.size <= cut {
				want = m
			}
		}
		require.Equal(t, want.pending, pendingIDs(o), "cut at %d", cut)
		if want.keys != nil {
			require.Equal(t, want.keys, o.keys, "cut at %d", cut)
		}
		require.NotContains(t, issued, put(t, o, entryOf("next")), "cut at %d", cut)
		require.NoError(t, o.Close())
	}
}

// One flipped bit in front of the last line is damage that no crash of ours leaves. The file is not opened, and not touched.
func TestOutboxRefusesDamageInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	_, _ = script(t, dir, OutboxOptions{MaxPending: 7})
	file := filepath.Join(dir, outboxName)
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	lastLine := bytes.LastIndexByte(good[:len(good)-1], '\n') + 1
	for at := range lastLine {
		damaged := slices.Clone(good)
		damaged[at] ^= 0x10
		_, err := parseHistory(file, damaged)
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt, "byte %d", at)
		require.Equal(t, int64(bytes.LastIndexByte(damaged[:at], '\n')+1), corrupt.Offset, "byte %d", at)
		require.Contains(t, err.Error(), file)
	}
	damaged := slices.Clone(good)
	damaged[lastLine/2] ^= 1
	require.NoError(t, os.WriteFile(file, damaged, 0o600))
	_, err = OpenOutbox(dir, quiet(OutboxOptions{}))
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, damaged, after)
}

// Lines whose checksum fits but whose story cannot be true come from another program.
func TestOutboxRefusesAnImpossibleStory(t *testing.T) {
	boot := record{Boot: &bootRecord{ID: "b1"}}
	event := func(boot string, seq int64) record {
		p := &putRecord{Event: "e", Payload: []byte("{}")}
		p.BootID, p.Seq, p.EventID = boot, seq, eventID(boot, seq)
		return record{Put: p}
	}
	header := record{Outbox: formatVersion}
	for name, records := range map[string][]record{
		"no header":               {boot, boot},
		"a later format":          {{Outbox: 2}, boot},
		"a boot twice":            {header, boot, boot, boot},
		"an ill-formed boot":      {header, {Boot: &bootRecord{ID: "b 1"}}, boot},
		"an event before boots":   {header, event("b1", 1), boot},
		"a number twice":          {header, boot, event("b1", 2), event("b1", 2), boot},
		"a number going back":     {header, boot, event("b1", 2), event("b1", 1), boot},
		"an unknown kind":         {header, boot, {}, boot},
		"an unknown kind in list": {header, boot, {}, {}, boot},
	} {
		var content []byte
		for _, r := range append(records, record{Ack: "b1-9"}) {
			var err error
			content, err = appendLine(content, r)
			require.NoError(t, err)
		}
		_, err := parseHistory("outbox.log", content)
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt, name)
	}
}

// Whatever bytes a file holds: it opens or it is refused, and what opens reads the same once it is written anew.
func FuzzParseHistory(f *testing.F) {
	lines := func(records ...record) (content []byte) {
		for _, r := range records {
			content, _ = appendLine(content, r)
		}
		return content
	}
	p := &putRecord{Event: "e", Payload: []byte(`{"a":1}`), Key: "k", Droppable: true}
	p.BootID, p.Seq, p.EventID = "b1", 1, "b1-1"
	whole := lines(record{Outbox: 1}, record{Boot: &bootRecord{ID: "b1"}}, record{Put: p}, record{Done: &doneRecord{"x", "b0-4"}})
	f.Add(whole)
	f.Add(append(whole, lines(record{Ack: "b1-1"})...))
	f.Add(append(whole, lines(record{Drop: "b1-1"}, record{Boot: &bootRecord{ID: "b2", Seq: 7}})...))
	f.Add(whole[:len(whole)-5])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, content []byte) {
		h, err := parseHistory("outbox.log", content)
		if err != nil {
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("want a CorruptError, got %v", err)
			}
			return
		}
		again, err := parseHistory("outbox.log", content[:h.end])
		if err != nil || again.end != h.end || len(again.pending) != len(h.pending) {
			t.Fatalf("the whole lines read otherwise: %+v, %v", again, err)
		}
	})
}
