package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"errand/catalog"
	"errand/deviceio/media"
	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/lease"
)

// Options configure a Gateway. Registry, Catalog, Signaller and Token are required; the rest has defaults.
type Options struct {
	Registry  Registry
	Catalog   *catalog.Catalog // whose result contracts decide what may leave an event
	Signaller Signaller
	// Leases is told when a device comes or goes; nil for nobody.
	Leases LeaseTeller
	// Observations is told what a device saw; nil for nobody: then it is on record.
	Observations Observer
	// Plans starts the routines that the catalog's watches name; nil for none. Decider is who decides at their boundaries, as
	// the API has it.
	Plans   Starter
	Decider string
	// Media keeps the bytes of what nodes send, such as a photo; nil for none: then a result has no reference to them.
	Media *media.Store
	// Token is the shared secret: devices show it to be paired, and HTTP routes want it as a bearer token. At least 16 bytes.
	Token string
	// AutoApprove lets every device in that knows the token. For development: it is logged at each use.
	AutoApprove bool
	// ForwardStarted makes every STARTED a signal, and not only those of capabilities with report_started. It is the
	// dearest event there is (design §6, What becomes a signal); for development.
	ForwardStarted bool
	// Views tells how plans stand, for the decisions in the answers to devices without a socket; nil: none are told.
	Views Views
	// Healthy tells whether what stands behind the gateway answers; /readyz asks it. nil means that it does.
	Healthy func(context.Context) error
	Version string           // told to devices; "dev" by default
	Logger  *slog.Logger     // nothing by default
	Now     func() time.Time // the system's clock by default

	// TickInterval is how often a tick is sent; a device hangs up after two without one. Default 30 s.
	TickInterval time.Duration
	// PingInterval is how often a WebSocket ping is sent; one without an answer closes the socket. Default 25 s.
	PingInterval time.Duration
	// LeaseTTL is how long a connection counts without a heartbeat, which comes three times as often. Default 10 s.
	LeaseTTL time.Duration
	// RevokeInterval is how often the gateway looks whether a device was revoked, to cut it off. Default 250 ms.
	RevokeInterval time.Duration
	// StopInterval is how often the gateway looks whether a device was stopped or released. Default 100 ms.
	StopInterval time.Duration
	// HandshakeTimeout bounds connect, from the challenge. Default 15 s.
	HandshakeTimeout time.Duration
	// InvokeTimeout bounds a command whose context has no deadline. Default 10 s.
	InvokeTimeout time.Duration
	// NewsInterval is the least time between two words about one device's connection to its lease. Default 1 s.
	NewsInterval time.Duration
	// SignalTimeout bounds handing one event to its plan, or one word to a lease. Default 10 s.
	SignalTimeout time.Duration
	// WriteTimeout bounds writing one frame; a device that takes none is gone. Default 10 s.
	WriteTimeout time.Duration
	// Limits bound what is taken at once.
	Limits Limits
	// PollGrace is how long a device that asks for its commands over HTTP counts as connected after it asked last. Default 30 s.
	PollGrace time.Duration
	// TellAgain is how soon such a device is told a command again that it has not answered. Default 5 s.
	TellAgain time.Duration
	// DrainTimeout bounds the end: commands in flight and events in hand are finished within it. Default 5 s.
	DrainTimeout time.Duration
}

// Registry is what the gateway needs of the registry; *registry.Registry satisfies it.
type Registry interface {
	AddGateway(ctx context.Context, id, taskQueue string, ttl time.Duration) error
	EndGateway(ctx context.Context, id string) error
	ShowCertificate(ctx context.Context, gatewayID string, s registry.Shown) error
	Heartbeat(ctx context.Context, gatewayID string, held map[string]int64, ttl time.Duration) (lost []string, err error)

	Declare(ctx context.Context, d registry.Declaration) (registry.Device, error)
	Approve(ctx context.Context, id string) error
	Redeem(ctx context.Context, deviceID, code string) error
	SetupCodeValid(ctx context.Context, deviceID, code string) (bool, error)
	Standing(ctx context.Context, id string) (state registry.State, approved []string, err error)
	Revoked(ctx context.Context, since time.Time) (ids []string, err error)
	StopDevice(ctx context.Context, s registry.Stop) error
	StopOf(ctx context.Context, deviceID string) (s registry.Stop, ok bool, err error)
	Stops(ctx context.Context) ([]registry.Stop, error)
	StopTold(ctx context.Context, s registry.Stop) error
	IssueToken(ctx context.Context, deviceID string) (string, error)
	TokenValid(ctx context.Context, deviceID, token string) (bool, error)
	TokenOwner(ctx context.Context, token string) (deviceID string, ok bool, err error)
	// SetSources records how fresh a device says its sources are.
	SetSources(ctx context.Context, id string, told map[string]any, at time.Time) error
	HomeOf(ctx context.Context, deviceID string) (registry.Home, error)
	VoiceAt(ctx context.Context, deviceID, speakerID string) (registry.Voice, error)
	Users(ctx context.Context, homeID string) ([]registry.User, error)
	SetRooms(ctx context.Context, id string, rooms []catalog.Room, at time.Time) error

	Device(ctx context.Context, id string) (registry.Device, error)
	Describe(ctx context.Context, id string, profile plan.Profile, storeID string, retentionMs int64) error
	Boots(ctx context.Context, deviceID string, boots []string) (map[string]int64, error)
	CurrentBoot(ctx context.Context, deviceID string) (bootID string, epoch int64, err error)
	BootEpoch(ctx context.Context, deviceID, bootID string) (epoch int64, ok bool, err error)
	Connect(ctx context.Context, c registry.Connection, ttl time.Duration) (epoch int64, err error)
	Disconnect(ctx context.Context, deviceID string, epoch int64) error
	KeepStray(ctx context.Context, e registry.StrayEvent) (registry.StrayEvent, error)
	Prune(ctx context.Context) error
	Ping(ctx context.Context) error
}

var _ Registry = (*registry.Registry)(nil)

// Signaller hands something a device said to the plan it is about.
type Signaller interface {
	// Signal is durable when it returns nil. The same request id again changes nothing. The error is, by errors.Is,
	// ErrPlanOver, ErrPlanUnknown or ErrSignalRefused where nothing will change by trying again; any other may pass.
	Signal(ctx context.Context, workflowID, requestID string, s plan.Signal) error
	// OwnerOf tells whose plan it is, running or over. ErrPlanUnknown if there is none.
	OwnerOf(ctx context.Context, workflowID string) (Owner, error)
}

// Views tells how a plan stands, and whose turn it is on a device; *plans.Client satisfies it.
type Views interface {
	View(ctx context.Context, planID string) (plan.View, error)
	Lease(ctx context.Context, deviceID string) (lease.View, error)
}

// minToken is the least length of the shared token, in bytes.
const minToken = 16

// withDefaults checks what is required and fills in the rest.
func (o Options) withDefaults() (Options, error) {
	var missing []error
	for _, need := range []struct {
		absent bool
		what   string
	}{
		{o.Registry == nil, "Registry is nil"},
		{o.Catalog == nil, "Catalog is nil"},
		{o.Signaller == nil, "Signaller is nil"},
		{len(o.Token) < minToken, fmt.Sprintf("Token has %d bytes, needs at least %d", len(o.Token), minToken)},
	} {
		if need.absent {
			missing = append(missing, errors.New("gateway options: "+need.what))
		}
	}
	o.Limits = o.Limits.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Healthy == nil {
		o.Healthy = func(context.Context) error { return nil }
	}
	for field, value := range map[*time.Duration]time.Duration{
		&o.TickInterval: 30 * time.Second, &o.PingInterval: 25 * time.Second, &o.LeaseTTL: 10 * time.Second,
		&o.RevokeInterval:   250 * time.Millisecond,
		&o.StopInterval:     100 * time.Millisecond,
		&o.HandshakeTimeout: 15 * time.Second, &o.InvokeTimeout: 10 * time.Second, &o.SignalTimeout: 10 * time.Second, &o.NewsInterval: time.Second,
		&o.PollGrace: 30 * time.Second, &o.TellAgain: 5 * time.Second,
		&o.WriteTimeout: 10 * time.Second, &o.DrainTimeout: 5 * time.Second,
	} {
		if *field <= 0 {
			*field = value
		}
	}
	return o, errors.Join(missing...)
}
