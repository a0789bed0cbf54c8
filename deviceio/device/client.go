package device

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"errand/deviceio/wire"
)

// Handler carries out what the cloud asks for.
type Handler interface {
	// Invoke carries out one command and returns its answer, anything that encoding/json can write. Commands run
	// concurrently. An error that is a *wire.InvokeError keeps its code; any other becomes FAILED. ctx ends with the
	// request's timeout, with its cancellation and with Run: stop then, but never because a connection is lost.
	Invoke(ctx context.Context, command string, params json.RawMessage) (any, error)
}

// Options says who a device is and where its gateway is.
type Options struct {
	// URL of the gateway, ws:// or wss://. Default: the one in SetupCode.
	URL string
	// Fingerprint is the SHA-256 of the gateway's TLS certificate, in hex: exactly that one is trusted then, and those that it announces
	// to take its place. Default: the one in SetupCode, else what StateDir holds of an earlier time; without any, the usual
	// authorities vouch for a wss:// URL.
	Fingerprint string
	// SetupCode lets a new device in (`errand device invite`). Token is the shared token, with which it waits for a person to
	// approve it. After pairing the gateway gives a device token, which is kept in StateDir and used instead of either.
	SetupCode string
	Token     string
	// StateDir holds the key, the name of the installation, the device token, what is trusted of the gateway, and the outbox. It is made if missing, and belongs to one process.
	StateDir string
	// Client says what program this is. Defaults: id errand-device, mode node, this platform, version 1, and as the installation a name that
	// is made at the first start and kept in StateDir: it has one key, and comes in with no other.
	Client wire.Client
	// Commands lists what Handler knows; others are answered UNKNOWN_COMMAND. Caps groups them for people.
	Commands []string
	Caps     []string
	// Profile says what the device can be relied on for. The outbox is this package's: Profile.Outbox is set.
	Profile wire.Profile
	// StoreID names the store in which Handler remembers operations, RetentionS for how many seconds. A new store, a
	// new id: the cloud takes "not found" for "never ran" only within one store.
	StoreID    string
	RetentionS int64
	Handler    Handler

	Logger *slog.Logger // default slog.Default()
	Outbox OutboxOptions
	// BackoffMin and BackoffMax bound the wait before connecting again; it doubles, with jitter. Default 1 s and 30 s.
	BackoffMin, BackoffMax time.Duration
	// HandshakeTimeout bounds the wait for the challenge, and for hello. Default 15 s.
	HandshakeTimeout time.Duration
	// AckTimeout bounds the wait for the answer to an event before it is sent again. Default 30 s.
	AckTimeout time.Duration
	// Dialer makes the way to the gateway of a transport that trusts what is to be trusted. Default: the transport itself.
	Dialer func(*http.Transport) http.RoundTripper
	// OnState is told of every connection made and lost. It must not block.
	OnState func(State)

	nextFingerprint string // told with Fingerprint by a setup code
}

// State is whether the device is connected, and if not, why.
type State struct {
	Connected bool
	Err       error // of the connection that ended or did not come about; a *wire.FrameError if the gateway refused it
}

func (o Options) withDefaults() (Options, error) {
	if o.SetupCode != "" {
		code, err := wire.ParseSetupCode(o.SetupCode)
		if err != nil {
			return o, fmt.Errorf("device: SetupCode: %w", err)
		}
		orString(&o.URL, code.URL)
		orString(&o.Fingerprint, code.TLSFingerprint)
		if o.Fingerprint == code.TLSFingerprint {
			o.nextFingerprint = code.NextTLSFingerprint
		}
		o.SetupCode = code.BootstrapToken
	}
	if o.Fingerprint != "" {
		var err error
		if o.Fingerprint, err = wire.ParseFingerprint(o.Fingerprint); err != nil {
			return o, fmt.Errorf("device: Fingerprint: %w", err)
		}
	}
	if o.URL == "" || o.StateDir == "" || o.Handler == nil {
		return o, errors.New("device: URL, StateDir and Handler must be set")
	}
	if o.RetentionS < 0 || o.Profile.Dedupe && o.StoreID == "" {
		return o, errors.New("device: a device that dedupes names its store (StoreID) and for how long it remembers (RetentionS)")
	}
	o.Profile.Outbox = true
	orString(&o.Client.ID, "errand-device")
	orString(&o.Client.Mode, wire.RoleNode)
	orString(&o.Client.Platform, runtime.GOOS)
	orString(&o.Client.Version, "1")
	orString(&o.StoreID, "none")
	orDuration(&o.BackoffMin, time.Second)
	orDuration(&o.BackoffMax, 30*time.Second)
	orDuration(&o.HandshakeTimeout, 15*time.Second)
	orDuration(&o.AckTimeout, 30*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Outbox.Logger == nil {
		o.Outbox.Logger = o.Logger
	}
	if o.OnState == nil {
		o.OnState = func(State) {}
	}
	if o.Dialer == nil {
		o.Dialer = func(t *http.Transport) http.RoundTripper { return t }
	}
	return o, nil
}

func orString(s *string, fallback string) {
	if *s == "" {
		*s = fallback
	}
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}

// Client is a device's side of the gateway protocol: it connects for ever, answers commands, and delivers events.
type Client struct {
	opts    Options
	key     ed25519.PrivateKey
	id      string
	outbox  *Outbox
	invokes *invokes

	mu    sync.Mutex
	token string // the stored device token
	trust trust  // in the gateway's certificate
	// setupOver says that the gateway took the setup code no more.
	setupOver bool
}

// Open takes the state directory: the key, made on first use, and the outbox, in which a new boot starts.
// Emit works from then on; Run connects.
func Open(o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	outbox, err := OpenOutbox(o.StateDir, o.Outbox) // first: its lock covers the other files
	if err != nil {
		return nil, err
	}
	c := &Client{opts: o, outbox: outbox}
	if c.key, err = loadKey(o.StateDir); err == nil {
		c.token, err = loadToken(o.StateDir)
	}
	if err == nil {
		c.trust, err = loadTrust(o)
	}
	if err != nil {
		return nil, errors.Join(err, outbox.Close())
	}
	if c.opts.Client.InstanceID == "" {
		if c.opts.Client.InstanceID, err = loadInstance(o.StateDir); err != nil {
			return nil, errors.Join(err, outbox.Close())
		}
	}
	c.id = wire.DeviceID(wire.PublicKey(c.key))
	c.invokes = newInvokes(c.id, slices.Clone(o.Commands), o.Handler, o.Logger)
	return c, nil
}

// Run connects, and connects again, until ctx ends or the outbox fails, and returns why. When it returns, no command
// runs any more. A refusal by the gateway (not paired, wrong token) is logged and tried again: people fix it there.
func (c *Client) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer c.invokes.wait()
	defer stop(nil)
	for attempt := 0; ; attempt++ {
		established, err := c.connect(ctx, stop)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if established {
			attempt = 0
		}
		delay := c.delay(attempt, err)
		c.opts.Logger.Info("device: not connected", "gateway", c.opts.URL, "err", err, "retry_in", delay)
		c.opts.OnState(State{Err: err})
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// DeviceID is the device's id: the hash of its key.
func (c *Client) DeviceID() string { return c.id }

// Boots lists the boots announced at connect, oldest first, the current one last.
func (c *Client) Boots() []string { return c.outbox.Boots() }

// BootID is the id of the current boot. Answers to getTaskStatus carry it, and LastSeq with it.
func (c *Client) BootID() string { return c.outbox.BootID() }

// LastSeq is the last number given to an event in the current boot.
func (c *Client) LastSeq() int64 { return c.outbox.LastSeq() }

// OutboxStats tells how many events wait for the cloud.
func (c *Client) OutboxStats() OutboxStats { return c.outbox.Stats() }

// Close gives the state directory back. End Run first.
func (c *Client) Close() error { return c.outbox.Close() }
