package config

import (
	"errors"
	"fmt"
)

// Gateway is the settings of a gateway (deviceio/cmd/gateway).
type Gateway struct {
	GatewayListen string `split_words:"true" default:"127.0.0.1:7420" unit:"host:port" desc:"address on which devices connect; port 0 takes a free one"`
	Token         string `required:"true" secret:"true" unit:"at least 16 bytes" desc:"token that a new device must show, and a caller of the gateway's HTTP routes; make one with: openssl rand -hex 32"`
	Registry      string `default:".errand/registry.db" unit:"file or URL" secret:"url" desc:"registry of devices: a SQLite file, made if it is absent, or a PostgreSQL database (postgres://user@host/database); the HTTP API must use the same"`
	Catalog       string `desc:"catalog file (YAML); default: the built-in one. All processes of an installation must use the same"`
	AutoApprove   bool   `split_words:"true" default:"false" desc:"let every device in that knows the token, without a person; for development only"`
	// ForwardStarted costs about five history events for each task.
	ForwardStarted bool `split_words:"true" default:"false" desc:"tell plans when a task starts, for every capability; for development"`
	Decides
	Log
}

var _ Validator = (*Gateway)(nil)

// leastToken is the least length of a token, in bytes.
const leastToken = 16

// Validate checks the token's length and the log level.
func (g *Gateway) Validate() error {
	return errors.Join(g.Log.Validate(), checkToken(g.Token))
}

func checkToken(token string) error {
	if len(token) < leastToken {
		return fmt.Errorf("ERRAND_TOKEN has %d bytes, needs at least %d", len(token), leastToken)
	}
	return nil
}
