package main

import (
	"errors"
	"fmt"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/internal/config"
)

// settings is what the robot reads from the environment; `robot config` prints it.
type settings struct {
	GatewayURL         string  `split_words:"true" default:"ws://127.0.0.1:7420/" unit:"URL" desc:"the devices' gateway, ws:// or wss://"`
	GatewayFingerprint string  `split_words:"true" unit:"SHA-256" desc:"fingerprint of the gateway's TLS certificate, trusted instead of the usual authorities; a setup code brings it, and it is kept"`
	Token              string  `secret:"true" desc:"token that the gateway lets a new device in with; afterwards the robot uses the one it was given"`
	SetupCode          string  `split_words:"true" secret:"true" desc:"setup code that lets a new device in, from errand device invite; it says where the gateway is, too"`
	RobotState         string  `split_words:"true" default:".errand/robot" unit:"folder" desc:"all the robot remembers; one folder is one robot"`
	RobotName          string  `split_words:"true" default:"errand-robot" desc:"name shown to people"`
	RobotSpeed         float64 `split_words:"true" default:"20" unit:"times" desc:"how much faster than the clock the robot's world runs; ttl, timeouts and freshness stay the clock's"`
	RobotControl       string  `split_words:"true" default:"127.0.0.1:0" unit:"host:port" desc:"loopback address of the control API for tests and for answering questions; port 0 takes a free one, empty means none"`
	RobotHome          string  `split_words:"true" unit:"file" desc:"YAML or JSON file with rooms and habits; default: a flat of six rooms"`
	RobotQuiet         bool    `split_words:"true" default:"false" desc:"say only when it is ready, not what it does"`
	RobotPlain         bool    `split_words:"true" default:"false" desc:"be a vendor's plain TaskManager instead: no gateway, no operation ids, nothing remembered; the shim runs beside it (docs/shim.md)"`
	RobotListen        string  `split_words:"true" default:"127.0.0.1:7431" unit:"host:port" desc:"loopback address of the plain TaskManager"`
	ShimEvents         string  `split_words:"true" default:"http://127.0.0.1:7430/onTaskEvent" unit:"URL" desc:"where the plain TaskManager posts its events; empty means nowhere"`
	VendorToken        string  `split_words:"true" secret:"true" desc:"what the plain TaskManager and the shim show each other, at least 16 bytes"`
	config.Log
}

// Validate checks what a type cannot.
func (s *settings) Validate() error {
	if s.RobotSpeed <= 0 || s.RobotSpeed > 10_000 {
		return fmt.Errorf("ERRAND_ROBOT_SPEED: %v is not between 0 and 10000", s.RobotSpeed)
	}
	var bad error
	if s.GatewayFingerprint != "" {
		if _, err := wire.ParseFingerprint(s.GatewayFingerprint); err != nil {
			bad = fmt.Errorf("ERRAND_GATEWAY_FINGERPRINT: %w", err)
		}
	}
	if s.RobotPlain && len(s.VendorToken) < 16 {
		bad = errors.Join(bad, fmt.Errorf("ERRAND_VENDOR_TOKEN: has %d bytes, needs 16: give the plain robot the shim's", len(s.VendorToken)))
	}
	if s.SetupCode != "" {
		if _, err := wire.ParseSetupCode(s.SetupCode); err != nil {
			bad = errors.Join(bad, fmt.Errorf("ERRAND_SETUP_CODE: %w", err))
		}
	}
	return errors.Join(bad, s.Log.Validate())
}

// gateway is where the robot connects: what its setup code says, if it has one.
func (s *settings) gateway() string {
	if code, err := wire.ParseSetupCode(s.SetupCode); err == nil {
		return code.URL
	}
	return s.GatewayURL
}

var _ config.Validator = (*settings)(nil)

func (s *settings) home() (robot.Home, error) {
	if s.RobotHome == "" {
		return robot.DefaultHome(), nil
	}
	return robot.LoadHome(s.RobotHome)
}
