package device

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// `make outbox-kill` sets these; by themselves the tests are short.
var (
	kills    = flag.Int("kills", 8, "how many times the outbox's process is killed, and how many times its power is cut")
	killSeed = flag.Uint64("kill-seed", 1, "what the random moments are drawn from")
)

func killRand() *rand.Rand { return rand.New(rand.NewPCG(*killSeed, 0)) }

const childDir = "ERRAND_TEST_OUTBOX"

// TestMain makes this binary a device that puts events until it is killed, if told so.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Println("error", putForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// putters is how many goroutines of the child put at once: their events share writes.
const putters = 4

// putForever loads an outbox that compacts itself often. It says what a Put has promised once that returned, and of which event
// it is about to give up the promise: all but every tenth is acknowledged.
func putForever(dir string) error {
	o, err := OpenOutbox(dir, quiet(OutboxOptions{CompactBytes: 2 << 10}))
	if err != nil {
		return err
	}
	fmt.Println("open")
	failed := make(chan error, putters)
	for range putters {
		go func() { failed <- putAndAck(o, func(what, id string) { fmt.Println(what, id) }) }()
	}
	return <-failed
}

func putAndAck(o *Outbox, say func(what, id string)) error {
	for i := 0; ; i++ {
		env, err := o.Put(context.Background(), entryOf(strings.Repeat("x", 200)))
		if err != nil {
			return err
		}
		if say("put", env.EventID); i%10 == 9 {
			continue
		}
		say("acking", env.EventID)
		if err := o.Ack(env.EventID); err != nil {
			return err
		}
	}
}

// promises is what a tester must find again.
type promises struct {
	owed   map[string]bool // a Put of it returned, and nobody acknowledged it
	acking map[string]bool // perhaps acknowledged
}

func newPromises() *promises { return &promises{owed: map[string]bool{}, acking: map[string]bool{}} }

func (p *promises) hear(what, id string) {
	switch what {
	case "put":
		p.owed[id] = true
	case "acking":
		delete(p.owed, id)
		p.acking[id] = true
	}
}

// check holds a history against the promises: nothing owed is gone, nothing is there twice, and the order is that of boots and
// numbers.
func (p *promises) check(t *testing.T, h *history, when string) {
	t.Helper()
	left := make(map[string]bool)
	boot, seq := -1, int64(0)
	for _, e := range h.pending {
		require.False(t, left[e.EventID], "%s: %s twice", when, e.EventID)
		left[e.EventID] = true
		at := slices.IndexFunc(h.boots, func(b *bootRecord) bool { return b.ID == e.BootID })
		require.True(t, at > boot || at == boot && e.Seq > seq, "%s: %s is out of order", when, e.EventID)
		boot, seq = at, e.Seq
	}
	for id := range p.owed {
		require.True(t, left[id], "%s: %s was promised and is gone", when, id)
	}
}

// A killed process loses nothing it had promised: kill -9 at any moment under load, life after life on one directory; and then
// the file is cut at every byte of its last two lines, as a power cut might leave it.
func TestLaw19OutboxSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, outboxName)
	random, owed := killRand(), newPromises()
	written, torn := 0, 0
	for life := range *kills {
		written += liveAndDie(t, dir, time.Duration(random.IntN(30_000))*time.Microsecond, owed)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		when := fmt.Sprintf("life %d", life)
		h, err := parseHistory(file, content)
		require.NoError(t, err, when)
		if h.end < int64(len(content)) {
			torn++
		}
		owed.check(t, h, when)
		cutTheEnd(t, file, content[:h.end])
		if life%25 == 24 {
			acknowledgeAll(t, dir, owed)
		}
	}
	require.Greater(t, written, *kills, "the child had work to be killed at")
	t.Logf("%d kills, %d events promised, %d writes found torn", *kills, written, torn)
}

// liveAndDie runs the child for that long from when its outbox is open, kills it, and hears what it had said.
func liveAndDie(t *testing.T, dir string, age time.Duration, owed *promises) (promised int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() { // to the end: what it had said before it died counts too
		what, id, _ := strings.Cut(lines.Text(), " ")
		require.NotEqual(t, "error", what, id)
		if what == "open" {
			_, err := OpenOutbox(dir, quiet(OutboxOptions{}))
			require.ErrorIs(t, err, ErrOutboxLocked, "another process holds it")
			time.AfterFunc(age, func() { _ = child.Process.Kill() }) // it may be over already: Wait tells
		}
		if owed.hear(what, id); what == "put" {
			promised++
		}
	}
	var exit *exec.ExitError
	require.True(t, errors.As(child.Wait(), &exit) && !exit.Exited(), "it was killed")
	return promised
}

// cutTheEnd cuts whole lines at every byte of the last two: what is left reads as the lines that are whole.
func cutTheEnd(t *testing.T, file string, content []byte) {
	t.Helper()
	from := len(content)
	for range 2 {
		from = bytes.LastIndexByte(content[:max(from-1, 0)], '\n') + 1
	}
	for cut := max(from, bytes.IndexByte(content, '\n')+1); cut < len(content); cut++ {
		h, err := parseHistory(file, content[:cut])
		require.NoError(t, err, "cut at %d of %d", cut, len(content))
		require.Equal(t, int64(bytes.LastIndexByte(content[:cut], '\n')+1), h.end, "cut at %d of %d", cut, len(content))
	}
}

// acknowledgeAll keeps the file from growing over hundreds of lives.
func acknowledgeAll(t *testing.T, dir string, owed *promises) {
	t.Helper()
	o, err := OpenOutbox(dir, quiet(OutboxOptions{}))
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, id := range pendingIDs(o) {
		all.Go(func() {
			if err := o.Ack(id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.NoError(t, o.Close())
	clear(owed.owed)
}

// disk is a disk that forgets what was not synced when its power is cut: any part of it, and the rest may be zeroes.
type disk struct {
	mu     sync.Mutex
	synced []byte // of the file that is open
	loose  []byte // written, and not synced
}

// open opens a file that is on the disk as a whole: it was synced before it was put in place. While a rename is not synced, what
// is open is the old file, and that is what a cut leaves.
func (d *disk) open(path string) (appender, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced, d.loose = content, nil
	return &diskFile{appender: f, disk: d}, err
}

// cut is what is left of the file when the power goes now.
func (d *disk) cut(random *rand.Rand) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := slices.Clone(d.loose[:random.IntN(len(d.loose)+1)])
	if len(rest) > 0 && random.IntN(3) == 0 { // a block that never got there
		from := random.IntN(len(rest))
		clear(rest[from : from+random.IntN(len(rest)-from)+1])
	}
	return slices.Concat(d.synced, rest)
}

type diskFile struct {
	appender
	disk *disk
}

func (f *diskFile) Write(b []byte) (int, error) {
	n, err := f.appender.Write(b)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.loose = append(f.disk.loose, b[:n]...)
	return n, err
}

func (f *diskFile) Sync() error {
	err := f.appender.Sync()
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.synced, f.disk.loose = append(f.disk.synced, f.disk.loose...), nil
	return err
}

// Power that goes at any moment under load takes what was not synced yet, all or part of it, and nothing that was promised.
func TestLaw19OutboxSurvivesTheLossOfUnsyncedWrites(t *testing.T) {
	random := killRand()
	dir := t.TempDir()
	disk := &disk{}
	o, err := OpenOutbox(dir, quiet(OutboxOptions{CompactBytes: 8 << 10, open: disk.open}))
	require.NoError(t, err)
	said, mouth := newPromises(), sync.Mutex{}
	var load sync.WaitGroup
	for range putters {
		load.Go(func() {
			err := putAndAck(o, func(what, id string) {
				mouth.Lock()
				defer mouth.Unlock()
				said.hear(what, id)
			})
			if !errors.Is(err, ErrOutboxClosed) {
				t.Error(err)
			}
		})
	}
	loose := 0
	for i := range *kills {
		for changes := random.IntN(4); changes >= 0; changes-- { // so that no two cuts are of one moment
			o.mu.Lock()
			changed := o.changed
			o.mu.Unlock()
			<-changed // closed by the next Put or Ack that is on disk: the load never ends by itself
		}
		// Under the same lock, so that no promise of it is given up meanwhile: an acknowledgement is written only after it is said.
		mouth.Lock()
		left := disk.cut(random)
		when := fmt.Sprintf("cut %d", i)
		h, err := parseHistory(outboxName, left)
		require.NoError(t, err, when)
		if h.end < int64(len(left)) {
			loose++
		}
		said.check(t, h, when)
		mouth.Unlock()
		reopenCut(t, left, len(h.pending))
	}
	require.NoError(t, o.Close())
	load.Wait()
	t.Logf("%d cuts, %d of them in the middle of a write", *kills, loose)
}

// reopenCut opens what a cut left, for one more event.
func reopenCut(t *testing.T, content []byte, pending int) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, outboxName), content, 0o600))
	o, err := OpenOutbox(dir, quiet(OutboxOptions{}))
	require.NoError(t, err)
	put(t, o, entryOf("next"))
	require.Len(t, pendingIDs(o), pending+1)
	require.NoError(t, o.Close())
}
