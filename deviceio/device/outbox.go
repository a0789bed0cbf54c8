package device

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Boot lists: a connect may carry maxBoots (contract.md §10); the last keepBoots stay listed with nothing pending.
const (
	maxBoots  = 64
	keepBoots = 16
)

// OutboxOptions bounds an outbox. Zero values mean the defaults.
type OutboxOptions struct {
	// MaxPending is how many unacknowledged events it holds. Default 10,000.
	MaxPending int
	// MaxBytes is how many bytes of payload they have together. Default 64 MiB. One event more may pass it.
	MaxBytes int64
	// KeepKeys is how many keys of acknowledged events are remembered. Default 4,096.
	KeepKeys int
	// CompactBytes is how much of the file must be garbage, and more than half, before it is written anew. Default 1 MiB.
	CompactBytes int64
	// Logger tells of torn writes and dropped events. Default: slog.Default().
	Logger *slog.Logger

	open func(path string) (appender, error) // a test's disk, on which power fails; default openAppend
}

func (o OutboxOptions) withDefaults() OutboxOptions {
	if o.MaxPending <= 0 {
		o.MaxPending = 10_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.KeepKeys <= 0 {
		o.KeepKeys = 4_096
	}
	if o.CompactBytes <= 0 {
		o.CompactBytes = 1 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.open == nil {
		o.open = openAppend
	}
	return o
}

// Outbox keeps events on disk, in order, until they are acknowledged: at least once, across power loss.
// It is safe for concurrent use; Put is durable when it returns. OUTBOX.md has the file format.
type Outbox struct {
	opts OutboxOptions
	path string
	lock *os.File

	mu      sync.Mutex
	boots   []*bootRecord // all in the file, oldest first; the last is the current one
	pending []*entry      // in order
	bytes   int64         // of pending payloads
	keys    map[string]string
	done    []doneRecord // the acknowledged part of keys, oldest first
	dropped int64
	file    appender
	size    int64         // of the file
	group   *group        // what the next write takes
	writing bool          // a flush runs: it alone touches file
	idle    chan struct{} // closed when that flush ends
	changed chan struct{} // closed and replaced when pending changes
	failed  error         // after a failed write nothing about the file is sure: everything stops
}

// entry is a pending event. It is sent only once it is durable: an event that a crash could still undo must not be seen.
type entry struct {
	put     *putRecord
	durable bool
	group   *group
}

// group is what one write and one fsync make durable.
type group struct {
	records []record
	entries []*entry
	done    chan struct{}
	err     error
}

// OpenOutbox opens the outbox of a state directory, which must exist, and starts a new boot in it.
// Errors: ErrOutboxLocked, *CorruptError, and whatever the disk says.
func OpenOutbox(dir string, opts OutboxOptions) (*Outbox, error) {
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	o := &Outbox{opts: opts.withDefaults(), path: filepath.Join(dir, outboxName), lock: lock,
		keys: make(map[string]string), changed: make(chan struct{})}
	if err := o.load(dir); err != nil {
		if o.file != nil {
			err = errors.Join(err, o.file.Close())
		}
		return nil, errors.Join(err, lock.Close())
	}
	return o, nil
}

func (o *Outbox) load(dir string) error {
	h, torn, err := readOutbox(dir)
	if err != nil {
		return err
	}
	if torn > 0 {
		o.opts.Logger.Warn("outbox: the last write was torn and is cut off; no Put of it had returned", "file", o.path, "bytes", torn)
	}
	o.boots, o.done, o.size = h.boots, h.done, h.end
	for _, d := range o.done {
		o.keys[d.Key] = d.EventID
	}
	o.trimDone()
	for _, p := range h.pending {
		o.add(&entry{put: p, durable: true})
	}
	if o.file, err = o.opts.open(o.path); err != nil {
		return err
	}
	return o.startBoot()
}

// startBoot gives this life of the process an id. Where a new one would not fit in a connect, since too many boots
// still have events pending, the newest boot goes on: its numbers continue, so order and identity hold.
func (o *Outbox) startBoot() error {
	o.mu.Lock()
	if len(o.listed()) >= maxBoots {
		o.mu.Unlock()
		return nil
	}
	boot := &bootRecord{ID: randomID()}
	o.boots = append(o.boots, boot)
	g := o.enqueue(nil, record{Boot: boot})
	o.mu.Unlock()
	<-g.done
	return g.err
}

func randomID() string {
	var id [8]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	return hex.EncodeToString(id[:])
}

// BootID is the id of the current boot: this life of the process.
func (o *Outbox) BootID() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.boots[len(o.boots)-1].ID
}

// LastSeq is the last number given to an event in the current boot; 0 before the first.
func (o *Outbox) LastSeq() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.boots[len(o.boots)-1].Seq
}

// Boots lists the boots that matter, oldest first, the current one last: every boot with pending events and the last few.
func (o *Outbox) Boots() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	listed := o.listed()
	ids := make([]string, len(listed))
	for i, b := range listed {
		ids[i] = b.ID
	}
	return ids
}

func (o *Outbox) listed() []*bootRecord {
	waiting := make(map[string]bool)
	for _, p := range o.pending {
		waiting[p.put.BootID] = true
	}
	var listed []*bootRecord
	for i, b := range o.boots {
		if waiting[b.ID] || i >= len(o.boots)-keepBoots {
			listed = append(listed, b)
		}
	}
	return listed
}

// OutboxStats counts what an operator of a device asks about.
type OutboxStats struct {
	Pending int   // events not acknowledged
	Bytes   int64 // of their payloads
	Dropped int64 // droppable events given up since the outbox was opened
}

// Stats returns the counts of this moment.
func (o *Outbox) Stats() OutboxStats {
	o.mu.Lock()
	defer o.mu.Unlock()
	return OutboxStats{Pending: len(o.pending), Bytes: o.bytes, Dropped: o.dropped}
}

// Close waits for what is being written and frees the directory. Waiting Puts fail with ErrOutboxClosed.
func (o *Outbox) Close() error {
	o.mu.Lock()
	if errors.Is(o.failed, ErrOutboxClosed) {
		o.mu.Unlock()
		return nil
	}
	failed := o.failed
	o.failed = ErrOutboxClosed
	o.wake()
	idle := o.idle
	o.mu.Unlock()
	if idle != nil {
		<-idle
	}
	return errors.Join(failed, o.file.Close(), o.lock.Close())
}
