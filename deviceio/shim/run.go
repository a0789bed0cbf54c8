package shim

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

// Version names this shim to the gateway.
const Version = "errand-shim/1"

// Config is a shim with its place in the network.
type Config struct {
	// StateDir holds the device's key, its outbox and the journal; one directory is one device.
	StateDir string
	// URL is the gateway's, ws:// or wss://. Token is what it lets a device in with, until it gives one of its own; SetupCode, if
	// not empty, stands in its place and says where the gateway is.
	URL       string
	SetupCode string
	Token     string
	// Fingerprint is the SHA-256 of the gateway's TLS certificate (device.Options).
	Fingerprint string
	// Name is shown to people. Default: errand-shim.
	Name string
	// VendorURL is where the TaskManager listens, Listen the loopback address on which its events are taken. VendorToken is
	// what each shows the other.
	VendorURL   string
	VendorToken string
	Listen      string
	// VendorTimeout, Settle and CheckEvery are those of Options.
	VendorTimeout, Settle, CheckEvery time.Duration
	// Report gets the ready line and what a person beside the device should know. Default: nobody.
	Report func(line string)
	Logger *slog.Logger // default slog.Default()
}

// Run is the whole shim beside a TaskManager: it opens the state directory, takes the TaskManager's events from then on, connects
// to the gateway, and connects again, until ctx ends or the disk fails.
//
// Once connected for the first time it reports one line, "shim ready: <device id> ...".
func Run(ctx context.Context, cfg Config) (err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Report == nil {
		cfg.Report = func(string) {}
	}
	s, err := Open(Options{StateDir: cfg.StateDir, Vendor: NewHTTPVendor(cfg.VendorURL, cfg.VendorToken), VendorTimeout: cfg.VendorTimeout,
		Settle: cfg.Settle, CheckEvery: cfg.CheckEvery, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	events := new(eventServer)
	client, err := s.dial(cfg, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := s.Attach(ctx, client); err != nil {
		return err
	}
	opened, err := listenEvents(ctx, s, cfg.Listen, cfg.VendorToken)
	if err != nil {
		return err
	}
	*events = *opened
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return events.serve(ctx) })
	all.Go(func() error { return s.Watch(ctx) })
	all.Go(func() error { return client.Run(ctx) })
	if err := all.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// dial makes the device's client, which connects only when it is run.
func (s *Shim) dial(cfg Config, events *eventServer) (*device.Client, error) {
	name := orString(cfg.Name, "errand-shim")
	var client *device.Client
	var ready sync.Once
	client, err := device.Open(device.Options{
		URL: cfg.URL, Fingerprint: cfg.Fingerprint, SetupCode: cfg.SetupCode, Token: cfg.Token, StateDir: cfg.StateDir, Logger: cfg.Logger, Handler: s,
		Client:   wire.Client{ID: "errand-shim", DisplayName: name, Version: Version, DeviceFamily: "robot"},
		Commands: Commands(), Caps: []string{"taskmanager"},
		Profile: s.Profile(), StoreID: s.StoreID(), RetentionS: int64(Retention / time.Second), BackoffMax: 5 * time.Second,
		OnState: func(state device.State) {
			if !state.Connected {
				cfg.Report(fmt.Sprintf("is not connected to %s: %v", cfg.URL, state.Err))
				return
			}
			first := false
			ready.Do(func() { first = true })
			if first {
				cfg.Report(fmt.Sprintf("shim ready: %s (%s) gateway=%s store=%s boot=%s vendor=%s events=%s", client.DeviceID(), name, cfg.URL,
					s.StoreID(), client.BootID(), cfg.VendorURL, events.URL()))
			} else {
				cfg.Report("is connected again to " + cfg.URL)
			}
		},
	})
	return client, err
}
