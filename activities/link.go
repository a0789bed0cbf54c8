package activities

import (
	"context"

	"errand/plan"
	"errand/plan/lease"
)

var (
	// ErrNotConnected means that nothing was sent: this process holds no socket of the device at that connection epoch.
	ErrNotConnected = plan.ErrNotConnected
	// ErrCannotTell means that the device cannot say what it runs, however often it is asked.
	ErrCannotTell = lease.ErrCannotTell
)

// Link is what activities need of a connected device. The gateway satisfies it; a main joins the two.
//
// An error that is ErrNotConnected (errors.Is) says that surely nothing was sent. Any other error means
// that the device may have received it. Each method honours the deadline of its context.
type Link interface {
	Submit(ctx context.Context, c plan.Submit) (plan.Submitted, error)
	CancelTask(ctx context.Context, c plan.CancelTask) (plan.CancelAnswered, error)
	Status(ctx context.Context, c plan.QueryStatus) (plan.StatusReported, error)
	// Tasks tells which operations of ours the device runs or has in its queue. ErrCannotTell if it cannot say.
	Tasks(ctx context.Context, deviceID string) (operations []string, partial bool, err error)
	// Context returns the device's device_context.v1.
	Context(ctx context.Context, deviceID string) (map[string]any, error)
	// Read carries out a read-only command of a plain node and returns its whole result, for a look at it.
	Read(ctx context.Context, deviceID string, look plan.ReadBack) (map[string]any, error)
	Say(ctx context.Context, c plan.Say) error
	Ask(ctx context.Context, c plan.Ask) error
}

// Directory tells where devices are. The registry satisfies it.
type Directory interface {
	// Route returns the route of a connected device; ok is false while it is not connected to any live gateway.
	Route(ctx context.Context, deviceID string) (route plan.Route, ok bool, err error)
}
