package gateway_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// newKey makes a device's key.
func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	return key
}

func idOf(key ed25519.PrivateKey) string {
	return wire.DeviceID(ed25519.PublicKey(key[ed25519.SeedSize:])) // a private key ends in its public one
}

// publicOf is the key's public half as it travels.
func publicOf(key ed25519.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(wire.PublicKey(key))
}

// robotCommands is what a person approved of every robot of the tests.
var robotCommands = []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandSay, wire.CommandAsk, wire.CommandContext}

// agent is the connect of a DeviceAgent; change may spoil it before it is signed.
func agent(key ed25519.PrivateKey, ch wire.Challenge, change func(*wire.Connect)) wire.Connect {
	c := wire.Connect{MinProtocol: 4, MaxProtocol: 4, Role: wire.RoleNode, Auth: wire.Auth{Token: sharedToken}, Caps: []string{}, Scopes: []string{},
		Client:   wire.Client{ID: "errand-device", DisplayName: "robot", Version: "1", Platform: "Linux", DeviceFamily: "Linux", Mode: "node"},
		Commands: []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandSay, wire.CommandAsk},
		Errand:   &wire.Errand{Profile: wire.Profile{Status: true, Dedupe: true, Outbox: true}, Boots: []string{"b1"}, StoreID: "store-1", RetentionS: 60}}
	if change != nil {
		change(&c)
	}
	wire.Sign(key, &c, ch)
	return c
}

// approved declares and approves the key's device, so that it may connect at once.
func (h *home) approved(key ed25519.PrivateKey) ed25519.PrivateKey {
	h.t.Helper()
	_, err := h.registry.Registry.Declare(h.t.Context(), registry.Declaration{ID: idOf(key), PublicKey: publicOf(key), Commands: robotCommands})
	must(h.t, err)
	must(h.t, h.registry.Approve(h.t.Context(), idOf(key)))
	return key
}

// robot connects a new approved device.
func (h *home) robot(change func(*wire.Connect)) *node {
	h.t.Helper()
	return h.join(h.approved(newKey(h.t)), change)
}

// join connects the device of the key and expects hello.
func (h *home) join(key ed25519.PrivateKey, change func(*wire.Connect)) *node {
	h.t.Helper()
	n := h.dial(key)
	res := n.request(wire.MethodConnect, agent(key, n.challenge, change))
	if !*res.OK {
		h.t.Fatalf("connect refused: %v", res.Error)
	}
	hello, err := wire.ParseHello(res.Payload)
	must(h.t, err)
	n.hello = hello
	return n
}

// route is where the registry says that the device is.
func (h *home) route(n *node) plan.Route {
	h.t.Helper()
	route, ok, err := h.registry.Route(h.t.Context(), n.id)
	if err != nil || !ok {
		h.t.Fatalf("Route = %v, %v", ok, err)
	}
	return route
}
