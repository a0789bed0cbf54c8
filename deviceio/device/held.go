package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"errand/deviceio/wire"
)

// heldTimeout bounds the wait for the gateway's word on how old a command is.
const heldTimeout = 10 * time.Second

// ErrUnawaited means that the gateway waits for a command's answer no more: whoever sent it has given it up.
var ErrUnawaited = errors.New("the gateway does not wait for this command any more")

// Held says for how long the command that ctx belongs to has been under way, by the gateway's clock. Ask it before something
// moves that must not be old: a command that waited in the socket, while the device slept or the network stood still, looks
// as new as any, and its ttl counts from when it was sent.
//
// It asks the gateway, so it takes a round trip. An error means that the command must not be begun: ErrUnawaited, or the
// gateway could not be asked. Of a gateway that does not answer such questions, and outside of a command, it is 0.
func Held(ctx context.Context) (time.Duration, error) {
	ask, ok := ctx.Value(heldKey{}).(func() (time.Duration, error))
	if !ok {
		return 0, nil
	}
	return ask()
}

type heldKey struct{}

// withHeld lets a command ask how old it is.
func withHeld(ctx context.Context, s *session, invokeID, nodeID string) context.Context {
	if !slices.Contains(s.methods, wire.MethodInvokeHeld) {
		return ctx
	}
	return context.WithValue(ctx, heldKey{}, func() (time.Duration, error) {
		f, err := s.call(context.WithoutCancel(ctx), wire.MethodInvokeHeld, wire.InvokeCancel{InvokeID: invokeID, NodeID: nodeID}, heldTimeout)
		switch {
		case err != nil:
			return 0, fmt.Errorf("ask how old the command is: %w", err)
		case !*f.OK:
			return 0, fmt.Errorf("ask how old the command is: %w", f.Error)
		}
		held, err := wire.ParseInvokeHeld(f.Payload)
		if err != nil {
			return 0, fmt.Errorf("read how old the command is: %w", err)
		}
		if !held.Awaited {
			return 0, ErrUnawaited
		}
		return time.Duration(held.HeldMs) * time.Millisecond, nil
	})
}
