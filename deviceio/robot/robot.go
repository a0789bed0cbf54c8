package robot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"errand/deviceio/device"
)

// ExecutorRevision names the version of the executor in events and receipts.
const ExecutorRevision = "errand-robot/1"

// Retention is how long the robot remembers an operation, and so refuses to do it twice. Declared at connect.
const Retention = 30 * 24 * time.Hour

// Times of the device's own clock.
const (
	senseEvery = time.Second // battery and air are measured this often
	saveIdle   = 5 * time.Second
	tellEvery  = 500 * time.Millisecond // at most one PROGRESS event in this time
	tellStep   = 0.1                    // and only for this much more
	maxLapse   = 5 * time.Second        // a process that was stopped for longer does not make up for it
)

// ErrBroken is wrapped by every error after the store failed once: what is in memory may not be on disk, so the robot
// stops rather than say something it could forget. A restart goes on from what is stored.
var ErrBroken = errors.New("the robot stopped: its store failed")

// Outbox takes events for good: when Emit returns nil, the event is durable and will be delivered, in order.
// Emitting a key again returns the first event's id and adds nothing. *device.Client is one.
type Outbox interface {
	Emit(ctx context.Context, e device.Event) (eventID string, err error)
	BootID() string
	// LastSeq is the last sequence number given to an event.
	LastSeq() int64
}

var _ Outbox = (*device.Client)(nil)

// Options say what robot to open. Only StateDir is required.
type Options struct {
	// StateDir holds everything the robot remembers; one directory is one robot.
	StateDir string
	// Home defaults to DefaultHome.
	Home Home
	// Speed is how many seconds of the world pass in one of the clock; default 1. Timeouts, ttl and freshness
	// are the clock's: they are promises to people outside this world.
	Speed float64
	// Clock defaults to time.Now.
	Clock func() time.Time
	// Report gets one line in plain words for each physical change; default: nobody.
	Report func(line string)
	// SaveEvery is how far a crash may throw a running task's progress back, on the clock; default 100 ms.
	// Effects and events are never behind.
	SaveEvery time.Duration
	// Crash is what the fault "crash" does; default: the process kills itself, as a power cut would.
	Crash func()
}

// Robot is a world with a TaskManager in front of it. One lock guards all of it: a status answer, the events told so
// far and the world are always of the same moment. It does nothing by itself: Tick lets time pass.
type Robot struct {
	home  Home
	speed float64
	saves time.Duration // Options.SaveEvery
	clock func() time.Time
	say   func(string)
	store *store

	mu      sync.Mutex
	outbox  Outbox
	world   World
	queue   []*Task // admitted, not begun; first in, first out
	running *Task   // the one executor's task: RUNNING or BLOCKED
	arrival int64
	faults  faults
	pending []announcement // on disk, not yet in the outbox
	stuck   bool           // the outbox took nothing at the last try
	// writes collects what the next commit stores, told what is emitted after it without being stored.
	writes  []write
	told    []announcement
	lines   []string
	answers bool          // some answer of the person may not be in the outbox yet
	last    time.Time     // of the last tick
	credit  time.Duration // of the world's time, less than a quantum
	savedAt time.Time
	forgot  time.Time
	broken  error
	// connection ends when the robot goes off the air or stops; nil without a gateway.
	connection context.Context
	changed    chan struct{} // closed and replaced whenever something may have changed
}

// write is one change to the store.
type write func(ctx context.Context, tx *sql.Tx) error

// Open opens the robot in its state directory, as it was left. Nothing moves before Attach and Tick.
func Open(ctx context.Context, opts Options) (*Robot, error) {
	if opts.Home.Rooms == nil {
		opts.Home = DefaultHome()
	}
	opts.Home = opts.Home.withDefaults()
	if err := opts.Home.Check(); err != nil {
		return nil, err
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Speed == 0 {
		opts.Speed = 1
	}
	if opts.SaveEvery == 0 {
		opts.SaveEvery = 100 * time.Millisecond
	}
	if opts.Report == nil {
		opts.Report = func(string) {}
	}
	if opts.Crash == nil {
		opts.Crash = killSelf
	}
	st, err := openStore(ctx, opts.StateDir)
	if err != nil {
		return nil, err
	}
	now := opts.Clock()
	r := &Robot{home: opts.Home, speed: opts.Speed, saves: opts.SaveEvery, clock: opts.Clock, say: opts.Report, store: st,
		last: now, savedAt: now, answers: true, changed: make(chan struct{}), faults: faults{crash: opts.Crash, echo: new(echo)}}
	r.faults.forget = r.forgetAtRestart
	if err := r.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", opts.StateDir, err), st.close())
	}
	return r, nil
}

// load brings back what is stored: the world, the tasks that are not over, the events nobody was told yet.
func (r *Robot) load(ctx context.Context) error {
	w, found, err := r.store.world(ctx)
	if err != nil {
		return err
	}
	if !found {
		w = newWorld(r.home, r.now())
	}
	w.adopt(r.home, r.now())
	r.world = w
	live, err := r.store.live(ctx)
	if err != nil {
		return err
	}
	for _, t := range live {
		if t.State == Queued {
			r.queue = append(r.queue, t)
		} else {
			r.running = t
		}
	}
	if r.arrival, err = r.store.lastArrival(ctx); err != nil {
		return err
	}
	r.pending, err = r.store.pending(ctx)
	return err
}

// Attach joins the robot to its outbox. What was stored but not told is told now, and a task that was cut short goes on.
func (r *Robot) Attach(ctx context.Context, o Outbox) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outbox = o
	if r.running != nil {
		r.resume(r.running)
	}
	return r.commit(ctx)
}

// Close closes the store. A running task stays as it was last stored, and goes on at the next start.
func (r *Robot) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.broken == nil && r.outbox != nil {
		r.touch()
		if r.running != nil {
			r.save(r.running)
		}
		err = r.commit(context.Background())
	}
	r.broken = errors.Join(ErrBroken, errors.New("closed"))
	r.wake()
	return errors.Join(err, r.store.close())
}

// StoreID names the robot's memory; a new one means that the old memory was lost.
func (r *Robot) StoreID() string { return r.store.id }

// now is the time in Unix milliseconds. What physically happens and what was promised for a while (ttlMs, timeoutMs) go by it.
func (r *Robot) now() int64 { return r.clock().UnixMilli() }

// deviceTime is the time that the device tells, which a fault may have set wrong: of events, observations, the context.
func (r *Robot) deviceTime() int64 { return max(0, r.now()+r.faults.offset()) }

// revision is the world's state as a name, for receipts and for expected_revision.
func (r *Robot) revision() string { return "w" + strconv.FormatInt(r.world.Revision, 10) }

// note adds a change to the next commit.
func (r *Robot) note(w write) { r.writes = append(r.writes, w) }

// touch makes the next commit store the world even if nothing else changed.
func (r *Robot) touch() { r.note(func(context.Context, *sql.Tx) error { return nil }) }

// report keeps a line until its change is stored: the robot prints nothing that it could forget.
func (r *Robot) report(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// commit stores what was noted together with the world, in one transaction; then it tells.
func (r *Robot) commit(ctx context.Context) error {
	if r.broken != nil {
		return r.broken
	}
	if len(r.writes) > 0 {
		// A caller that hangs up must not undo what was decided: the commit is not the caller's.
		ctx := context.WithoutCancel(ctx)
		err := r.store.write(ctx, func(tx *sql.Tx) error {
			for _, w := range r.writes {
				if err := w(ctx, tx); err != nil {
					return err
				}
			}
			return putWorld(ctx, tx, &r.world)
		})
		if err != nil {
			r.broken = fmt.Errorf("%w: %w", ErrBroken, err)
			r.wake()
			return r.broken
		}
		r.writes, r.savedAt = nil, r.clock()
		r.wake()
	}
	for _, line := range r.lines {
		r.say(line)
	}
	r.lines = nil
	return r.tell(ctx)
}

// wake lets everyone who waits for a condition look again.
func (r *Robot) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits until the condition holds under the lock, or the context ends.
func (r *Robot) await(ctx context.Context, holds func() bool) error {
	for {
		r.mu.Lock()
		ok, changed, broken := holds(), r.changed, r.broken
		r.mu.Unlock()
		switch {
		case ok:
			return nil
		case broken != nil:
			return broken
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// snapshot returns a copy of the world that shares nothing with it.
func (w World) snapshot() World {
	w.Air, w.Sources, w.Sensed.PM25 = maps.Clone(w.Air), maps.Clone(w.Sources), maps.Clone(w.Sensed.PM25)
	objects := w.Objects.clone()
	w.Objects = &objects
	return w
}

// World returns the world as it is now.
func (r *Robot) World() World {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.snapshot()
}
