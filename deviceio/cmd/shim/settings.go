package main

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"errand/deviceio/wire"
	"errand/internal/config"
)

// settings is what the shim reads from the environment; `shim config` prints it.
type settings struct {
	GatewayURL         string        `split_words:"true" default:"ws://127.0.0.1:7420/" unit:"URL" desc:"the devices' gateway, ws:// or wss://"`
	GatewayFingerprint string        `split_words:"true" unit:"SHA-256" desc:"fingerprint of the gateway's TLS certificate, trusted instead of the usual authorities; a setup code brings it, and it is kept"`
	Token              string        `secret:"true" desc:"token that the gateway lets a new device in with; afterwards the shim uses the one it was given"`
	SetupCode          string        `split_words:"true" secret:"true" desc:"setup code that lets a new device in, from errand device invite; it says where the gateway is, too"`
	ShimState          string        `split_words:"true" default:".errand/shim" unit:"folder" desc:"all the shim remembers; one folder is one device"`
	ShimName           string        `split_words:"true" default:"errand-shim" desc:"name shown to people"`
	ShimListen         string        `split_words:"true" default:"127.0.0.1:7430" unit:"host:port" desc:"loopback address on which the TaskManager posts its events"`
	VendorURL          string        `split_words:"true" default:"http://127.0.0.1:7431" unit:"URL" desc:"where the TaskManager listens"`
	VendorToken        string        `split_words:"true" secret:"true" desc:"what shim and TaskManager show each other, at least 16 bytes; both need it"`
	VendorTimeout      time.Duration `split_words:"true" default:"10s" unit:"duration" desc:"how long one call of the TaskManager may take"`
	ShimSettle         time.Duration `split_words:"true" default:"3s" unit:"duration" desc:"for how long a task must be gone, or over without an event, before that is believed"`
	ShimCheckEvery     time.Duration `split_words:"true" default:"2s" unit:"duration" desc:"how often the TaskManager is asked about the tasks it has"`
	config.Log
}

// leastToken is the least length of a token, in bytes.
const leastToken = 16

// Validate checks what a type cannot.
func (s *settings) Validate() error {
	var bad []error
	if len(s.VendorToken) < leastToken {
		bad = append(bad, fmt.Errorf("ERRAND_VENDOR_TOKEN: has %d bytes, needs %d: make one with openssl rand -hex 32, and give it to the TaskManager too", len(s.VendorToken), leastToken))
	}
	if u, err := url.Parse(s.VendorURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		bad = append(bad, fmt.Errorf("ERRAND_VENDOR_URL: %q is no http URL, such as http://127.0.0.1:7431", s.VendorURL))
	}
	for name, d := range map[string]time.Duration{"ERRAND_VENDOR_TIMEOUT": s.VendorTimeout, "ERRAND_SHIM_SETTLE": s.ShimSettle, "ERRAND_SHIM_CHECK_EVERY": s.ShimCheckEvery} {
		if d <= 0 {
			bad = append(bad, fmt.Errorf("%s: %v is not more than 0", name, d))
		}
	}
	if s.GatewayFingerprint != "" {
		if _, err := wire.ParseFingerprint(s.GatewayFingerprint); err != nil {
			bad = append(bad, fmt.Errorf("ERRAND_GATEWAY_FINGERPRINT: %w", err))
		}
	}
	if s.SetupCode != "" {
		if _, err := wire.ParseSetupCode(s.SetupCode); err != nil {
			bad = append(bad, fmt.Errorf("ERRAND_SETUP_CODE: %w", err))
		}
	}
	return errors.Join(append(bad, s.Log.Validate())...)
}

var _ config.Validator = (*settings)(nil)

// gateway is where the shim connects: what its setup code says, if it has one.
func (s *settings) gateway() string {
	if code, err := wire.ParseSetupCode(s.SetupCode); err == nil {
		return code.URL
	}
	return s.GatewayURL
}
