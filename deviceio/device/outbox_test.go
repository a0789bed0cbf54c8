package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

func quiet(o OutboxOptions) OutboxOptions {
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

func openOutbox(t *testing.T, dir string, opts OutboxOptions) *Outbox {
	t.Helper()
	o, err := OpenOutbox(dir, quiet(opts))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.Close()) })
	return o
}

func entryOf(text string) Entry {
	return Entry{Event: wire.NodeTaskEvent, Payload: func(e wire.Envelope) (any, error) {
		return map[string]any{"event_id": e.EventID, "text": text}, nil
	}}
}

func keyed(key string) Entry {
	e := entryOf(key)
	e.Key = key
	return e
}

func put(t *testing.T, o *Outbox, e Entry) string {
	t.Helper()
	env, err := o.Put(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, eventID(env.BootID, env.Seq), env.EventID)
	return env.EventID
}

func pendingIDs(o *Outbox) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var ids []string
	for _, p := range o.pending {
		ids = append(ids, p.put.EventID)
	}
	return ids
}

func TestOutboxKeepsOrderAcrossBoots(t *testing.T) {
	dir := t.TempDir()
	first := openOutbox(t, dir, OutboxOptions{})
	a, b := put(t, first, entryOf("a")), put(t, first, entryOf("b"))
	require.Equal(t, int64(2), first.LastSeq())
	require.NoError(t, first.Close())

	second := openOutbox(t, dir, OutboxOptions{})
	require.NotEqual(t, first.BootID(), second.BootID())
	require.Equal(t, []string{first.BootID(), second.BootID()}, second.Boots())
	require.Equal(t, int64(0), second.LastSeq(), "numbers start anew with a boot")
	c := put(t, second, entryOf("c"))
	for _, want := range []string{a, b, c} {
		p, err := second.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, p.EventID)
		require.JSONEq(t, fmt.Sprintf(`{"event_id":%q,"text":%q}`, want, map[string]string{a: "a", b: "b", c: "c"}[want]), string(p.Payload))
		require.NoError(t, second.Ack(want))
		require.NoError(t, second.Ack(want), "an acknowledgement that comes twice changes nothing")
	}
	require.Equal(t, OutboxStats{}, second.Stats())
}

func TestOutboxNextWaitsForAPut(t *testing.T) {
	o := openOutbox(t, t.TempDir(), OutboxOptions{})
	got := make(chan Pending, 1)
	go func() {
		if p, err := o.Next(context.Background()); err == nil {
			got <- p
		}
	}()
	id := put(t, o, entryOf("a"))
	require.Equal(t, id, receive(t, got, "the event").EventID)
}

// A key is remembered while its event is pending, after its acknowledgement, across restarts and compactions.
func TestLaw07OutboxKeyIsOneEvent(t *testing.T) {
	dir := t.TempDir()
	small := OutboxOptions{CompactBytes: 1}
	o := openOutbox(t, dir, small)
	id := put(t, o, keyed("p/s/1/COMPLETED"))
	again := func(when string) {
		t.Helper()
		require.Equal(t, id, put(t, o, keyed("p/s/1/COMPLETED")), when)
	}
	reopen := func() {
		t.Helper()
		require.NoError(t, o.Close())
		o = openOutbox(t, dir, small)
	}
	again("pending")
	reopen()
	again("pending, after a restart")
	require.NoError(t, o.Ack(id))
	again("acknowledged")
	for range 50 { // garbage enough for compactions
		require.NoError(t, o.Ack(put(t, o, entryOf("x"))))
	}
	again("after compactions")
	reopen()
	again("after compactions and a restart")
	require.Zero(t, o.Stats().Pending)
}

func TestOutboxForgetsTheOldestKeys(t *testing.T) {
	dir := t.TempDir()
	o := openOutbox(t, dir, OutboxOptions{KeepKeys: 2})
	first := put(t, o, keyed("a"))
	require.NoError(t, o.Ack(first))
	b := put(t, o, keyed("b"))
	require.NoError(t, o.Ack(b))
	c := put(t, o, keyed("c"))
	require.NoError(t, o.Ack(c))
	require.NoError(t, o.Close())
	o = openOutbox(t, dir, OutboxOptions{KeepKeys: 2})
	require.Equal(t, b, put(t, o, keyed("b")))
	require.Equal(t, c, put(t, o, keyed("c")))
	require.NotEqual(t, first, put(t, o, keyed("a")), "only the last two keys are kept")
}

func TestOutboxFullDropsOldestDroppableThenWaits(t *testing.T) {
	o := openOutbox(t, t.TempDir(), OutboxOptions{MaxPending: 4})
	progress := entryOf("progress")
	progress.Droppable = true
	head := put(t, o, progress)
	p1, p2 := put(t, o, progress), put(t, o, progress)
	t1 := put(t, o, entryOf("terminal"))
	t2 := put(t, o, entryOf("terminal"))
	require.Equal(t, []string{head, p2, t1, t2}, pendingIDs(o), "the head is in flight; the oldest behind it went: %s", p1)
	t3 := put(t, o, entryOf("terminal"))
	require.Equal(t, []string{head, t1, t2, t3}, pendingIDs(o))
	require.Equal(t, int64(2), o.Stats().Dropped)

	_, err := o.Put(t.Context(), progress)
	require.ErrorIs(t, err, ErrDropped)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = o.Put(gone, entryOf("terminal"))
	require.ErrorIs(t, err, ErrOutboxFull)
	require.ErrorIs(t, err, context.Canceled)

	late := make(chan string, 1)
	go func() {
		env, err := o.Put(context.Background(), entryOf("terminal"))
		if err == nil {
			late <- env.EventID
		}
	}()
	require.NoError(t, o.Ack(head))
	id := receive(t, late, "the Put that waited for room")
	require.Equal(t, []string{t1, t2, t3, id}, pendingIDs(o))
}

func TestOutboxFullByBytes(t *testing.T) {
	o := openOutbox(t, t.TempDir(), OutboxOptions{MaxBytes: 10})
	put(t, o, entryOf("longer than ten bytes"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := o.Put(gone, entryOf("a"))
	require.ErrorIs(t, err, ErrOutboxFull)
}

// A payload that cannot be made takes no number: the numbers in the file have no hole that nobody can explain.
func TestOutboxRefusedPayloadLeavesNoTrace(t *testing.T) {
	o := openOutbox(t, t.TempDir(), OutboxOptions{})
	bad := errors.New("no payload")
	_, err := o.Put(t.Context(), Entry{Event: "e", Key: "k", Payload: func(wire.Envelope) (any, error) { return nil, bad }})
	require.ErrorIs(t, err, bad)
	_, err = o.Put(t.Context(), Entry{Event: "e", Key: "k", Payload: func(wire.Envelope) (any, error) { return func() {}, nil }})
	require.Error(t, err)
	require.Zero(t, o.LastSeq())
	put(t, o, keyed("k"))
	require.Equal(t, int64(1), o.LastSeq())
}

func TestOutboxConcurrentPuts(t *testing.T) {
	dir := t.TempDir()
	o := openOutbox(t, dir, OutboxOptions{CompactBytes: 1})
	const writers, each = 8, 25
	var all sync.WaitGroup
	ids := make([][]string, writers)
	for w := range writers {
		all.Go(func() {
			for i := range each {
				env, err := o.Put(context.Background(), keyed(fmt.Sprintf("shared-%d", i)))
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				ids[w] = append(ids[w], env.EventID)
			}
		})
	}
	acked := make(map[string]bool)
	all.Go(func() { // half of them are acknowledged meanwhile
		for range each / 2 {
			p, err := o.Next(context.Background())
			if err != nil {
				t.Errorf("next: %v", err)
				return
			}
			acked[p.EventID] = true
			if err := o.Ack(p.EventID); err != nil {
				t.Errorf("ack: %v", err)
			}
		}
	})
	all.Wait()
	for _, own := range ids {
		require.Equal(t, ids[0], own, "a key has one event, whoever puts it")
	}
	require.Equal(t, int64(each), o.LastSeq())
	want := slices.DeleteFunc(slices.Clone(ids[0]), func(id string) bool { return acked[id] })
	require.Equal(t, want, pendingIDs(o))
	require.NoError(t, o.Close())
	require.Equal(t, want, pendingIDs(openOutbox(t, dir, OutboxOptions{})))
}

func TestOutboxCompactionKeepsWhatMatters(t *testing.T) {
	dir := t.TempDir()
	opts := OutboxOptions{CompactBytes: 4 << 10}
	o := openOutbox(t, dir, opts)
	kept := put(t, o, keyed("kept"))
	var largest int64
	for range 500 {
		id := put(t, o, keyed(fmt.Sprintf("gone-%d", o.LastSeq())))
		o.mu.Lock()
		i := slices.IndexFunc(o.pending, func(p *entry) bool { return p.put.EventID == id })
		o.mu.Unlock()
		require.Positive(t, i)
		require.NoError(t, o.Ack(id))
		stat, err := os.Stat(filepath.Join(dir, outboxName))
		require.NoError(t, err)
		largest = max(largest, stat.Size())
	}
	require.Less(t, largest, int64(150<<10), "500 events of 300 bytes would be more; their keys are not")
	last, boot := o.LastSeq(), o.BootID()
	require.NoError(t, o.Close())
	o = openOutbox(t, dir, opts)
	require.Equal(t, []string{kept}, pendingIDs(o))
	require.Equal(t, last, o.boots[len(o.boots)-2].Seq, "the last number of the boot before is still known")
	require.Equal(t, boot, o.Boots()[0])
}

// A compaction that cannot be written leaves the old file in charge.
func TestOutboxCompactionThatFailsLosesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, outboxName+".new"), 0o700)) // in the way of the new file
	_, err := OpenOutbox(dir, quiet(OutboxOptions{}))
	require.Error(t, err, "not even the first file can be made")
	require.NoError(t, os.Remove(filepath.Join(dir, outboxName+".new")))
	o := openOutbox(t, dir, OutboxOptions{CompactBytes: 1})
	require.NoError(t, os.Mkdir(filepath.Join(dir, outboxName+".new"), 0o700))
	kept := put(t, o, entryOf("kept"))
	for range 20 {
		require.NoError(t, o.Ack(put(t, o, entryOf("gone"))))
	}
	require.NoError(t, o.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, outboxName+".new")))
	require.Equal(t, []string{kept}, pendingIDs(openOutbox(t, dir, OutboxOptions{})))
}

// After a failed write nothing about the file is sure: every waiting and every later call says so.
func TestOutboxFailedWriteStopsEverything(t *testing.T) {
	for name, broken := range map[string]*brokenFile{"write": {writes: errors.New("no space")}, "sync": {syncs: errors.New("I/O error")}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o, err := OpenOutbox(dir, quiet(OutboxOptions{}))
			require.NoError(t, err)
			kept := put(t, o, entryOf("kept"))
			o.mu.Lock()
			broken.appender = o.file
			o.file = broken
			o.mu.Unlock()
			_, err = o.Put(t.Context(), entryOf("lost"))
			require.ErrorIs(t, err, broken.why())
			_, err = o.Put(t.Context(), entryOf("lost"))
			require.ErrorIs(t, err, broken.why())
			_, err = o.Next(t.Context())
			require.ErrorIs(t, err, broken.why())
			require.ErrorIs(t, o.Ack(kept), broken.why())
			require.Error(t, o.Close())
			require.Equal(t, kept, pendingIDs(openOutbox(t, dir, OutboxOptions{}))[0])
		})
	}
}

type brokenFile struct {
	appender
	writes, syncs error
}

func (f *brokenFile) why() error {
	if f.writes != nil {
		return f.writes
	}
	return f.syncs
}

func (f *brokenFile) Write(b []byte) (int, error) {
	if f.writes != nil {
		n, _ := f.appender.Write(b[:len(b)/2]) // a disk that fills up takes part of it
		return n, f.writes
	}
	return f.appender.Write(b)
}

func (f *brokenFile) Sync() error { return errors.Join(f.syncs, f.appender.Sync()) }

func TestOutboxClosedFailsWaiters(t *testing.T) {
	o := openOutbox(t, t.TempDir(), OutboxOptions{MaxPending: 1})
	put(t, o, entryOf("a"))
	waiting := make(chan error, 1)
	go func() { _, err := o.Put(context.Background(), entryOf("b")); waiting <- err }()
	require.NoError(t, o.Close())
	require.ErrorIs(t, receive(t, waiting, "the end of Put"), ErrOutboxClosed)
	_, err := o.Next(t.Context())
	require.ErrorIs(t, err, ErrOutboxClosed)
	require.ErrorIs(t, o.Ack("x-1"), ErrOutboxClosed)
}

func TestOutboxHasOneOwner(t *testing.T) {
	dir := t.TempDir()
	first := openOutbox(t, dir, OutboxOptions{})
	_, err := OpenOutbox(dir, quiet(OutboxOptions{}))
	require.ErrorIs(t, err, ErrOutboxLocked)
	require.NoError(t, first.Close())
	openOutbox(t, dir, OutboxOptions{})
}

// A connect may list 64 boots. A device that restarts more often while it is offline, each time with something to
// tell, goes on in its newest boot: no event loses its place, no number is given twice.
func TestOutboxBootsNeverOutgrowAConnect(t *testing.T) {
	dir := t.TempDir()
	var all []string
	for range maxBoots + 10 {
		o, err := OpenOutbox(dir, quiet(OutboxOptions{}))
		require.NoError(t, err)
		all = append(all, put(t, o, entryOf("x")))
		require.LessOrEqual(t, len(o.Boots()), maxBoots)
		require.Equal(t, o.BootID(), o.Boots()[len(o.Boots())-1])
		require.NoError(t, o.Close())
	}
	o := openOutbox(t, dir, OutboxOptions{})
	require.Equal(t, all, pendingIDs(o))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), len(all), "no id twice")
	for _, id := range all {
		require.True(t, slices.Contains(o.Boots(), envelopeOf(id).BootID), "every pending event's boot is listed")
		require.NoError(t, o.Ack(id))
	}
	require.Len(t, o.Boots(), keepBoots)
}

func TestOutboxStateIsItsOwners(t *testing.T) {
	dir := t.TempDir()
	openOutbox(t, dir, OutboxOptions{})
	stat, err := os.Stat(filepath.Join(dir, outboxName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), stat.Mode())
}

func BenchmarkPut(b *testing.B) {
	o, err := OpenOutbox(b.TempDir(), quiet(OutboxOptions{MaxPending: 1 << 30}))
	if err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := o.Put(context.Background(), entryOf("x")); err != nil {
				b.Error(err)
			}
		}
	})
	if err := o.Close(); err != nil {
		b.Fatal(err)
	}
}
