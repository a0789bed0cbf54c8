package gateway

import (
	"context"
	"encoding/json"
)

// SetIDs has the gateway take the ids of challenges and commands from next. Call it before the first socket.
func (g *Gateway) SetIDs(next func() string) { g.newID = next }

// Invoke sends a command to a device and waits for its result, as every command of the gateway does.
func (g *Gateway) Invoke(ctx context.Context, deviceID, command string, params json.RawMessage) (json.RawMessage, error) {
	s, err := g.at(deviceID, 0)
	if err != nil {
		return nil, err
	}
	return s.invoke(ctx, command, params)
}
