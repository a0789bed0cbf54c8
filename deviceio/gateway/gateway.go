package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"errand/deviceio/wire"
)

// Gateway holds the sockets of the devices that are connected to this process. Make one with New, serve Handler,
// and keep Run going: it renews the devices' presence.
type Gateway struct {
	opts        Options
	log         *slog.Logger
	id          string
	born        time.Time
	table       table
	polls       polls
	flood       *flood
	challenges  challenges
	certificate certificate
	lanes       lanes
	live        live
	stops       stops
	owners      owners
	news        news
	translate   translator
	counters    *counters
	newID       func() string // of challenges and commands

	// quit ends when draining begins, and unfinished handshakes with it. gate guards the step from open to draining.
	quit     context.Context
	stop     context.CancelFunc
	gate     sync.Mutex
	draining atomic.Bool
	sockets  sync.WaitGroup
	// recording counts results of commands that were read and are not recorded yet.
	recording sync.WaitGroup
}

// New makes a gateway with a fresh id and records it in the registry.
func New(opts Options) (*Gateway, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Gateway{opts: opts, id: "gw-" + strings.ToLower(rand.Text()[:12]), born: opts.Now(), newID: rand.Text, flood: newFlood(opts.Limits)}
	g.quit, g.stop = context.WithCancel(context.Background())
	g.log = opts.Logger.With("gateway", g.id)
	g.news = news{teller: opts.Leases, pause: opts.NewsInterval, timeout: opts.SignalTimeout, quit: g.quit, failed: func(deviceID string, err error) {
		g.log.Warn("the lease of a device could not be told of its connection", "device", deviceID, "error", err)
	}}
	g.translate = newTranslator(opts.Catalog)
	g.counters = newCounters(&g.table)
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	if err := opts.Registry.AddGateway(ctx, g.id, g.TaskQueue(), opts.LeaseTTL); err != nil {
		return nil, fmt.Errorf("record the gateway: %w", err)
	}
	inForce, err := opts.Registry.Stops(ctx) // a stop outlives the gateway: it holds before the first device comes
	if err != nil {
		return nil, fmt.Errorf("read the emergency stops: %w", err)
	}
	g.stops.see(inForce)
	return g, nil
}

// recordTime bounds the gateway's first write to the registry, which other processes may be writing to.
const recordTime = 10 * time.Second

// ID is fresh for each process start, and so is the queue: an old route never reaches a new process.
func (g *Gateway) ID() string { return g.id }

// TaskQueue is the Temporal task queue on which this process must run the device activities.
func (g *Gateway) TaskQueue() string { return "deviceio@" + g.id }

// Run renews the presence of the gateway and of its devices until ctx ends. Then it drains: it takes no new device,
// finishes what is in flight within DrainTimeout, and closes every socket with 1012, so that the devices come back soon.
func (g *Gateway) Run(ctx context.Context) error {
	var watch sync.WaitGroup
	defer watch.Wait()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watch.Go(func() { g.watchRevoked(watching) })
	watch.Go(func() { g.watchStops(watching) })
	beat, tidy := time.NewTicker(g.opts.LeaseTTL/3), time.NewTicker(pruneEvery)
	defer beat.Stop()
	defer tidy.Stop()
	var c crowd
	for {
		select {
		case <-tidy.C:
			g.flood.tidy()
			g.prune(ctx)
		case <-beat.C:
			g.heartbeat(ctx)
			c.tidy()
		case <-ctx.Done():
			return g.drain(context.WithoutCancel(ctx))
		}
	}
}

// pruneEvery is how often the registry forgets what only grows.
const pruneEvery = 5 * time.Minute

func (g *Gateway) prune(ctx context.Context) {
	soon, cancel := context.WithTimeout(ctx, g.opts.LeaseTTL/3) // the next heartbeat must not wait for it
	defer cancel()
	if err := g.opts.Registry.Prune(soon); err != nil && ctx.Err() == nil {
		g.log.Warn("the registry could not be pruned: it is tried again", "in", pruneEvery, "error", err)
	}
}

// heartbeat renews the leases, and lets go of the sockets whose place another one took.
func (g *Gateway) heartbeat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, g.opts.LeaseTTL)
	defer cancel()
	held := g.table.held()
	lost, err := g.opts.Registry.Heartbeat(ctx, g.id, held, g.opts.LeaseTTL)
	if err != nil && ctx.Err() == nil {
		g.log.Error("the devices' presence could not be renewed: they will count as away", "devices", len(held), "error", err)
	}
	for _, deviceID := range lost {
		if s := g.table.get(deviceID); s != nil && s.epoch == held[deviceID] {
			s.log.Warn("closing the socket: the device connected elsewhere or was revoked")
			go s.end(closeReplaced, "revoked, or replaced by a newer connection of this device")
		}
	}
}

// drain ends the gateway's work in an order that loses nothing: no new routes, no new sockets, no new events; then what is
// in hand; then the sockets.
func (g *Gateway) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.opts.DrainTimeout)
	defer cancel()
	g.shut()
	err := g.opts.Registry.EndGateway(ctx, g.id)
	open := g.table.close()
	g.log.Info("draining", "devices", len(open))
	waiting, stopWaiting := context.WithTimeout(ctx, g.opts.DrainTimeout*3/4) // what takes longer is told to come back, too
	defer stopWaiting()
	for _, s := range open {
		go func() {
			s.awaitIdle(waiting)
			s.shutdown()
		}()
	}
	gone := make(chan struct{})
	go func() { g.sockets.Wait(); g.recording.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
		for _, s := range open {
			s.drop()
		}
		err = errors.Join(err, fmt.Errorf("drain: some devices were cut off after %s", g.opts.DrainTimeout))
	}
	g.news.settle(ctx)
	return err
}

// enter counts a new socket in; false while draining.
func (g *Gateway) enter() bool {
	g.gate.Lock()
	defer g.gate.Unlock()
	if g.draining.Load() {
		return false
	}
	g.sockets.Add(1)
	return true
}

// shut lets no new socket in.
func (g *Gateway) shut() {
	g.gate.Lock()
	defer g.gate.Unlock()
	g.draining.Store(true)
	g.stop()
}

// restartExpected is what devices are told about a shutdown, in milliseconds: how soon to try again.
const restartExpected = 2000

// shutdown tells the device that the service restarts, and closes.
func (s *session) shutdown() {
	s.send(wire.EventShutdown, map[string]any{"reason": "service restart", "restartExpectedMs": restartExpected})
	s.end(wire.CloseServiceRestart, "service restart")
}
