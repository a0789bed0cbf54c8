package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// tickEvery is how often a robot lets time pass that is at work, or has a fault to come; idleEvery, one that is not.
const (
	tickEvery = 20 * time.Millisecond
	idleEvery = 200 * time.Millisecond
)

// Config is a robot with its place in the network.
type Config struct {
	Options
	// URL is the gateway's, ws:// or wss://. Token is what it lets a device in with, until it gives one of its own; SetupCode, if
	// not empty, stands in its place and says where the gateway is.
	URL       string
	SetupCode string
	Token     string
	// Fingerprint is the SHA-256 of the gateway's TLS certificate (device.Options).
	Fingerprint string
	// Name is shown to people. Default: errand-robot.
	Name string
	// Control is the loopback address of the control API (control.go): "" means none, port 0 any free port.
	Control string
	// Logger takes what is for engineers; default slog.Default(). Options.Report takes what is for people.
	Logger *slog.Logger
}

// Run is the whole robot: it opens the state directory, carries on with what was cut short, connects to the gateway,
// and connects again, until ctx ends or the disk fails. A task that runs then is left as it is, to be resumed.
//
// Once connected for the first time it reports one line, "robot ready: <device id> ...".
func Run(ctx context.Context, cfg Config) (err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	r, err := Open(ctx, cfg.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var control string
	client, err := r.dial(cfg, &control)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := r.Attach(ctx, client); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	if cfg.Control != "" {
		server, err := r.listen(ctx, cfg, client.DeviceID())
		if err != nil {
			return err
		}
		control = server.URL
		all.Go(func() error { return server.serve(ctx) })
	}
	all.Go(func() error { return r.live(ctx) })
	all.Go(func() error { return r.link(ctx, client) })
	if err := all.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// dial makes the device's client, which connects only when it is run.
func (r *Robot) dial(cfg Config, control *string) (*device.Client, error) {
	name := cfg.Name
	if name == "" {
		name = "errand-robot"
	}
	var client *device.Client
	var ready sync.Once
	client, err := device.Open(device.Options{
		URL: cfg.URL, Fingerprint: cfg.Fingerprint, SetupCode: cfg.SetupCode, Token: cfg.Token, StateDir: cfg.StateDir, Logger: cfg.Logger, Handler: r,
		Client:   wire.Client{ID: "errand-robot", DisplayName: name, Version: ExecutorRevision, DeviceFamily: "robot"},
		Commands: Commands(), Caps: []string{"taskmanager", "assistant"},
		Profile: wire.Profile{Status: true, Dedupe: true, Outbox: true},
		Dialer:  r.faults.echo.on,
		StoreID: r.store.id, RetentionS: int64(Retention / time.Second), BackoffMax: 5 * time.Second,
		OnState: func(s device.State) {
			if !s.Connected {
				r.say(fmt.Sprintf("is not connected to %s: %v", cfg.URL, s.Err))
				return
			}
			first := false
			ready.Do(func() { first = true })
			if first {
				r.say(fmt.Sprintf("robot ready: %s (%s) gateway=%s store=%s boot=%s control=%s", client.DeviceID(), name, cfg.URL, r.store.id, client.BootID(), *control))
			} else {
				r.say("is connected again to " + cfg.URL)
			}
		},
	})
	return client, err
}

var _ device.Handler = (*Robot)(nil)

// live lets time pass until ctx ends. A robot with nothing to do lets it pass in longer steps, until something changes.
func (r *Robot) live(ctx context.Context) error {
	next := time.NewTimer(0)
	defer next.Stop()
	var changed <-chan struct{}
	for {
		select {
		case <-next.C:
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		if err := r.Tick(ctx); err != nil {
			return err
		}
		var rest time.Duration
		rest, changed = r.rest()
		next.Reset(rest)
	}
}

// rest is how long the robot may wait for its next tick, and what ends the wait before that; nil for nothing.
func (r *Robot) rest() (time.Duration, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	idle := r.running == nil && len(r.queue) == 0 && len(r.pending) == 0 && len(r.faults.list) == 0 && r.faults.late == 0
	if !idle {
		return tickEvery, nil
	}
	return idleEvery, r.changed
}

// link keeps the robot connected, save while a fault holds it off the air. Only a failed outbox ends it before ctx.
func (r *Robot) link(ctx context.Context, client *device.Client) error {
	for ctx.Err() == nil {
		err := r.await(ctx, func() bool { return !r.faults.offline() })
		if err == nil {
			err = r.connect(ctx, client)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// connect stays connected until ctx ends or a fault cuts it off, which is no error.
func (r *Robot) connect(ctx context.Context, client *device.Client) error {
	connection, cut := context.WithCancel(ctx)
	defer cut()
	r.online(connection, cut)
	err := client.Run(connection)
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if ctx.Err() == nil {
		r.say("is off the air, and works on")
	}
	return nil
}

// online notes how the connection can be cut.
func (r *Robot) online(connection context.Context, cut func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.connection, r.faults.cut = connection, cut
	r.faults.cutIfOffline() // it may have struck just now
}
