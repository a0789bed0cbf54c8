package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// Retention is how long the shim remembers an operation, and so refuses to do it twice. Declared at connect.
const Retention = 30 * 24 * time.Hour

// ErrBroken is wrapped by every error after the journal failed once: what is in memory may not be on disk, so the shim stops
// rather than say something it could forget. A restart goes on from what is stored.
var ErrBroken = errors.New("the shim stopped: its journal failed")

// Outbox takes events for good: when Emit returns nil, the event is durable and will be delivered, in order. Emitting a key
// again returns the first event's id and adds nothing. *device.Client is one.
type Outbox interface {
	Emit(ctx context.Context, e device.Event) (eventID string, err error)
	BootID() string
	LastSeq() int64
}

var _ Outbox = (*device.Client)(nil)

// Options say what shim to open. StateDir and Vendor are required.
type Options struct {
	// StateDir holds the journal, and may be the device client's as well; one directory is one device.
	StateDir string
	Vendor   Vendor
	// VendorTimeout bounds one call of the vendor. Default 10 s.
	VendorTimeout time.Duration
	// Settle is for how long what is odd must stay so before it is believed: a task that the vendor knows no more, or calls over
	// without having told its end. The event may be on its way. Default 3 s. A submit whose answer was lost is looked for
	// as long as a call may take, and that, before it is called unknown.
	Settle time.Duration
	// CheckEvery is how often the vendor is asked about the tasks that it has. Default 2 s.
	CheckEvery time.Duration
	// Clock defaults to time.Now.
	Clock  func() time.Time
	Logger *slog.Logger // default slog.Default()
}

func (o Options) withDefaults() (Options, error) {
	if o.StateDir == "" || o.Vendor == nil {
		return o, errors.New("shim: StateDir and Vendor must be set")
	}
	orDuration(&o.VendorTimeout, 10*time.Second)
	orDuration(&o.Settle, 3*time.Second)
	orDuration(&o.CheckEvery, 2*time.Second)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}

// Shim is a plain TaskManager as the cloud needs it. Open it, Attach it to its outbox, give it to the device's client as its
// Handler, hand it the vendor's events with Event, and call Watch.
type Shim struct {
	opts Options
	log  *slog.Logger

	telling sync.Mutex // held by whoever hands events to the outbox: they go in order

	mu      sync.Mutex
	journal *journal
	memory  *memory
	outbox  Outbox
	changes []record // for the next commit
	// calls are the submits that wait for the vendor's answer, by operation id; closed when it is there, or given up.
	calls  map[string]chan struct{}
	odd    map[string]oddity // by operation id
	chats  map[string]int64  // when progress was told last
	forgot time.Time
	broken error
}

// oddity is something about an operation that does not fit what was told, and since when, in Unix ms.
type oddity struct {
	what  string
	since int64
}

// Open opens the journal in its state directory, made if missing. Nothing reaches the vendor before a command comes.
func Open(o Options) (*Shim, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	j, m, torn, err := openJournal(o.StateDir)
	if err != nil {
		return nil, err
	}
	if torn > 0 {
		o.Logger.Warn("shim: the last write was torn and is cut off; nobody was promised it", "file", j.path, "bytes", torn)
	}
	return &Shim{opts: o, log: o.Logger, journal: j, memory: m, calls: map[string]chan struct{}{}, odd: map[string]oddity{},
		chats: map[string]int64{}, forgot: o.Clock()}, nil
}

// Attach joins the shim to its outbox, and tells what an earlier life did not.
func (s *Shim) Attach(ctx context.Context, o Outbox) error {
	s.mu.Lock()
	s.outbox = o
	s.mu.Unlock()
	return s.tell(ctx)
}

// Close gives the state directory back. End the client and Watch first.
func (s *Shim) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = fmt.Errorf("%w: closed", ErrBroken)
	}
	return s.journal.close()
}

// StoreID names the shim's memory; a new one means that the old memory was lost.
func (s *Shim) StoreID() string { return s.memory.storeID }

// Profile is what the cloud can rely on: an answer for every operation id, no second movement for one, and events that
// outlive this process once it has them. What the vendor told to nobody is gone; status then says UNKNOWN.
func (s *Shim) Profile() wire.Profile { return wire.Profile{Status: true, Dedupe: true, Outbox: true} }

// now is the time in Unix milliseconds.
func (s *Shim) now() int64 { return s.opts.Clock().UnixMilli() }

// note applies a change, and adds it to the next commit.
func (s *Shim) note(r record) {
	if why := s.memory.apply(r); why != "" {
		s.broken = fmt.Errorf("%w: %s", ErrBroken, why)
	}
	s.changes = append(s.changes, r)
}

// save makes the next commit store an operation as it stands then.
func (s *Shim) save(op *operation) { s.note(record{Op: op}) }

// commit puts what was noted on disk, all of it or nothing. Called with the lock.
func (s *Shim) commit() error {
	if s.broken != nil {
		return s.broken
	}
	if len(s.changes) == 0 {
		return nil
	}
	err := s.journal.write(s.changes)
	s.changes = nil
	if err != nil {
		s.broken = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return s.broken
}

// vendorContext bounds a call of the vendor. What was sent is not taken back because the cloud hung up.
func (s *Shim) vendorContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.opts.VendorTimeout)
}

// find looks an operation up by its id or by the task id that the cloud was given. Called with the lock.
func (s *Shim) find(operationID, taskID string) *operation {
	if operationID != "" {
		return s.memory.operations[operationID]
	}
	for _, op := range s.memory.operations {
		if taskID != "" && op.TaskID == taskID {
			return op
		}
	}
	return nil
}
