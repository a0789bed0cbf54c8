package robot

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// PlainConfig is the robot as a vendor would ship it who meets the checklist and no more: a TaskManager behind HTTP on loopback,
// and no gateway. Beside it runs the shim (package deviceio/shim, docs/shim.md).
//
// It has the same body and the same ledger, and none of the robot's care: a submit that comes twice is done twice, a task that
// is over is forgotten, and so is every task when it restarts; each event is told once, and lost if nobody listens then.
type PlainConfig struct {
	Options
	// Listen is the loopback address of the TaskManager; EventsURL is where its events are posted to. Both show Token.
	Listen    string
	EventsURL string
	Token     string
	// Control is as in Config.
	Control string
	Logger  *slog.Logger // default slog.Default()
}

// plain is the TaskManager of such a robot.
type plain struct {
	robot *Robot

	mu sync.Mutex
	// submits counts what was submitted in this life. Each submit is a task of its own, whatever it carries.
	submits int
	life    string
}

// RunPlain runs the plain robot until ctx ends. Once it listens it reports one line, "robot ready: plain ...".
func RunPlain(ctx context.Context, cfg PlainConfig) (err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	r, err := Open(ctx, cfg.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.startOver(); err != nil {
		return err
	}
	events := newCallback(cfg.EventsURL, cfg.Token, cfg.Logger)
	if err := r.Attach(ctx, events); err != nil {
		return err
	}
	p := &plain{robot: r, life: rand.Text()[:6]}
	server, err := p.listen(ctx, cfg)
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	control := ""
	if cfg.Control != "" {
		c, err := r.listen(ctx, Config{Options: Options{StateDir: cfg.StateDir}, Control: cfg.Control}, "plain")
		if err != nil {
			return errors.Join(err, server.listener.Close())
		}
		control = c.URL
		all.Go(func() error { return c.serve(ctx) })
	}
	all.Go(func() error { return server.serve(ctx) })
	all.Go(func() error { return r.live(ctx) })
	all.Go(func() error { return events.deliver(ctx) })
	r.say(fmt.Sprintf("robot ready: plain taskmanager=%s events=%s control=%s", server.URL(), cfg.EventsURL, control))
	if err := all.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// startOver forgets every task, as such a robot does when it restarts. The world and its ledger stay.
func (r *Robot) startOver() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if err := r.store.write(context.Background(), func(tx *sql.Tx) error { return loseMemory(tx, now) }); err != nil {
		return err
	}
	r.queue, r.running, r.pending = nil, nil, nil
	return r.store.prepare(context.Background())
}

// submit takes a task in, as a new one each time. The robot's own machinery wants an operation id: it gets one that nobody else
// knows, with the plan and the step in it so that the ledger can be read.
func (p *plain) submit(ctx context.Context, t wire.Task) (wire.SubmitAnswer, error) {
	p.mu.Lock()
	p.submits++
	own := plainOperation(t.Trace, p.life+"-"+strconv.Itoa(p.submits))
	p.mu.Unlock()
	t.OperationID = own
	answer, err := p.robot.Submit(ctx, t)
	answer.StoreID, answer.PreStateRevision = "", ""
	return answer, err
}

// plainOperation names a submit in the ledger: whose step it is, and which submit of it.
func plainOperation(t wire.Trace, submit string) string {
	return fmt.Sprintf("%s/%s~%s/1", orText(t.CloudPlanID, "button"), orText(t.CloudStepID, "press"), submit)
}

func orText(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// status tells of a task that is not over; of another it knows nothing.
func (p *plain) status(ctx context.Context, taskID string) (wire.StatusAnswer, bool, error) {
	answer, err := p.robot.Status(ctx, wire.StatusQuery{TaskID: taskID})
	if err != nil || !answer.Found || State(answer.Status).Terminal() {
		return wire.StatusAnswer{}, false, err
	}
	answer.OperationID, answer.StoreID, answer.BootID, answer.AsOfSeq, answer.TerminalEvent = "", "", "", 0, nil
	return answer, true, nil
}

// cancel asks a task that is not over to stop.
func (p *plain) cancel(ctx context.Context, q wire.CancelQuery) (wire.CancelAnswer, bool, error) {
	if _, found, err := p.status(ctx, q.TaskID); err != nil || !found {
		return wire.CancelAnswer{}, false, err
	}
	answer, err := p.robot.Cancel(ctx, wire.CancelQuery{TaskID: q.TaskID, Reason: q.Reason})
	answer.OperationID, answer.StoreID, answer.TerminalEvent = "", "", nil
	return answer, true, err
}

// context is the planning context without what a plain robot does not know.
func (p *plain) context() PlanningContext {
	c := p.robot.Context()
	c.BootID = ""
	for i := range c.TaskManager.Tasks {
		c.TaskManager.Tasks[i].OperationID = ""
	}
	return c
}

// callback posts events, in order, each once: what cannot be posted is lost.
type callback struct {
	url, token string
	log        *slog.Logger
	boot       string
	queue      chan json.RawMessage

	mu  sync.Mutex
	seq int64
}

// maxUnposted bounds the events that wait to be posted.
const maxUnposted = 1_000

func newCallback(url, token string, log *slog.Logger) *callback {
	return &callback{url: url, token: token, log: log, boot: "plain-" + rand.Text()[:8], queue: make(chan json.RawMessage, maxUnposted)}
}

var _ Outbox = (*callback)(nil)

// Emit takes an event for one try. Of the envelope and of the operation id nothing is told.
func (c *callback) Emit(_ context.Context, e device.Event) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	id := c.boot + "-" + strconv.FormatInt(c.seq, 10)
	told, ok := e.Body(wire.Envelope{}).(wire.TaskEvent)
	if !ok { // an observation or an answer: such a robot tells none
		return id, nil
	}
	text, err := json.Marshal(told)
	if err != nil {
		return "", err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", err
	}
	for _, name := range []string{"event_id", "boot_id", "seq", "operation_id"} {
		delete(fields, name)
	}
	if text, err = json.Marshal(fields); err != nil {
		return "", err
	}
	select {
	case c.queue <- text:
	default:
		c.log.Warn("robot: an event is lost: too many wait", "event", string(text))
	}
	return id, nil
}

// BootID names this life.
func (c *callback) BootID() string { return c.boot }

// LastSeq is the number of the last event.
func (c *callback) LastSeq() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seq
}

// deliver posts what comes, until ctx ends.
func (c *callback) deliver(ctx context.Context) error {
	for {
		select {
		case event := <-c.queue:
			if err := c.post(ctx, event); err != nil {
				c.log.Warn("robot: an event is lost: nobody took it", "event", string(event), "err", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}
