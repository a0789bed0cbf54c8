package config

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Gateway is the settings of a gateway (deviceio/cmd/gateway).
type Gateway struct {
	GatewayListen string `split_words:"true" default:"127.0.0.1:7420" unit:"host:port" desc:"address on which devices connect; port 0 takes a free one"`
	Token         string `required:"true" secret:"true" unit:"at least 16 bytes" desc:"token that a new device must show, and a caller of the gateway's HTTP routes; make one with: openssl rand -hex 32"`
	Registry      string `default:".errand/registry.db" unit:"file or URL" secret:"url" desc:"registry of devices: a SQLite file, made if it is absent, or a PostgreSQL database (postgres://user@host/database); the HTTP API must use the same"`
	// TLS, and what it needs (package deviceio/certificate).
	GatewayTLS     string        `split_words:"true" default:"auto" unit:"auto, on or off" desc:"whether devices connect with TLS (wss://, https://); auto: yes, unless the address is on the loopback. Off is for a gateway behind something that does"`
	GatewayTLSCert string        `split_words:"true" unit:"file" desc:"PEM certificate with its chain; default: a self-made one, kept in gateway-tls.json beside the registry (in .errand where that is a database)"`
	GatewayTLSKey  string        `split_words:"true" unit:"file" desc:"PEM key of the certificate"`
	GatewayTLSLead time.Duration `split_words:"true" default:"168h" unit:"duration" desc:"how long another certificate is announced to devices before it is used; a device that is away for all of it must be told the fingerprint anew"`
	Media          string        `default:".errand/media" unit:"folder" desc:"where the bytes are kept that nodes send, such as photos: at most 16 MiB each and 512 MiB together, the oldest go first"`
	Catalog        string        `desc:"catalog file (YAML); default: the built-in one. All processes of an installation must use the same"`
	AutoApprove    bool          `split_words:"true" default:"false" desc:"let every device in that knows the token, without a person; for development only"`
	// ForwardStarted costs about five history events for each task.
	ForwardStarted bool `split_words:"true" default:"false" desc:"tell plans when a task starts, for every capability; for development"`
	// What a gateway takes at once; each is explained with gateway.Limits.
	HandshakeRate   int `split_words:"true" default:"500" unit:"per second" desc:"connects checked at most; the rest of a storm is told when to come again"`
	MaxConnecting   int `split_words:"true" default:"1024" unit:"sockets" desc:"sockets that may be open without having connected"`
	DeviceEventRate int `split_words:"true" default:"50" unit:"per second" desc:"events that one device may send, and four times that in a burst"`
	EventRate       int `split_words:"true" default:"2000" unit:"per second" desc:"events taken of all devices of one gateway together"`
	Decides
	Log
}

var _ Validator = (*Gateway)(nil)

// leastToken is the least length of a token, in bytes.
const leastToken = 16

// Validate checks the token's length and the log level.
func (g *Gateway) Validate() error {
	return errors.Join(g.Log.Validate(), checkToken(g.Token), g.checkLimits(), g.checkTLS())
}

func (g *Gateway) checkTLS() (bad error) {
	if g.GatewayTLS != "auto" && g.GatewayTLS != "on" && g.GatewayTLS != "off" {
		bad = fmt.Errorf("ERRAND_GATEWAY_TLS: %q is not auto, on or off", g.GatewayTLS)
	}
	if (g.GatewayTLSCert == "") != (g.GatewayTLSKey == "") {
		bad = errors.Join(bad, errors.New("ERRAND_GATEWAY_TLS_CERT and ERRAND_GATEWAY_TLS_KEY: set both, or neither"))
	}
	if g.GatewayTLSLead < 0 {
		bad = errors.Join(bad, fmt.Errorf("ERRAND_GATEWAY_TLS_LEAD: %v is below 0", g.GatewayTLSLead))
	}
	return bad
}

// UsesTLS tells whether the gateway speaks TLS: it is told to, it is given a certificate, or others than this machine can reach it.
func (g *Gateway) UsesTLS() bool {
	if g.GatewayTLS != "auto" {
		return g.GatewayTLS == "on"
	}
	host, _, err := net.SplitHostPort(g.GatewayListen)
	ip := net.ParseIP(host)
	return g.GatewayTLSCert != "" || err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback())
}

func (g *Gateway) checkLimits() (bad error) {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"ERRAND_HANDSHAKE_RATE", g.HandshakeRate}, {"ERRAND_MAX_CONNECTING", g.MaxConnecting},
		{"ERRAND_DEVICE_EVENT_RATE", g.DeviceEventRate}, {"ERRAND_EVENT_RATE", g.EventRate},
	} {
		if limit.value < 1 {
			bad = errors.Join(bad, fmt.Errorf("%s is %d, must be at least 1", limit.name, limit.value))
		}
	}
	return bad
}

func checkToken(token string) error {
	if len(token) < leastToken {
		return fmt.Errorf("ERRAND_TOKEN has %d bytes, needs at least %d", len(token), leastToken)
	}
	return nil
}
