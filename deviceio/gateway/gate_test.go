package gateway_test

import (
	"errors"
	"testing"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// What is allowed at the moment of execution: the catalog's switch, and the permissions that the device has.
func TestTheThirdGateIsTheMoment(t *testing.T) {
	t.Parallel()
	known := testCatalog()
	known.Capabilities[0].Access = "wheels.move"
	known.Capabilities = append(known.Capabilities, catalog.Capability{ID: "switched_off", TaskMethod: "setMoveTo"})
	h := newHome(t, func(o *gateway.Options) { o.Catalog = known })
	for name, c := range map[string]struct {
		capability  string
		permissions map[string]bool
		want        string // "" for sent
	}{
		"switched off in the catalog":   {capability: "switched_off", want: "CAPABILITY_DISABLED"},
		"the permission is denied":      {capability: "move_to_room", permissions: map[string]bool{"wheels.move": false}, want: "PERMISSION_REQUIRED"},
		"the permission is granted":     {capability: "move_to_room", permissions: map[string]bool{"wheels.move": true}},
		"the device does not name it":   {capability: "move_to_room", permissions: map[string]bool{"camera.capture": false}},
		"not in this gateway's catalog": {capability: "newer_one"},
	} {
		t.Run(name, func(t *testing.T) {
			n := h.robot(func(w *wire.Connect) { w.Permissions = c.permissions })
			command := h.submit(n)
			command.CapabilityID = c.capability
			done := h.start(t.Context(), command)
			if c.want == "" {
				n.answer(n.invoked(), `{"accepted":true,"taskId":"t1","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"store-1"}`)
			}
			got := await(t, done, "the submit")
			must(t, got.err)
			switch {
			case c.want == "" && got.Delivery != plan.DeliveryAccepted:
				t.Errorf("submitted %+v, want it accepted", got.Submitted)
			case c.want != "" && (got.Delivery != plan.DeliveryRefused || !got.Unasked || got.Report.Code != c.want):
				t.Errorf("submitted %+v, want it refused with %s, the device not asked", got.Submitted, c.want)
			}
		})
	}
}

// A device that says that the command may not begin now refuses it. That is no unknown outcome, which would be asked about for
// ever; and whether the plan waits, asks or gives up, the table says.
func TestADeviceMayRefuseAtTheMoment(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) {
		o.Catalog.Reasons = append(o.Catalog.Reasons, catalog.Reason{Code: "NODE_BACKGROUND_UNAVAILABLE", Recoverability: "conditional"})
	})
	n := h.robot(nil)
	for code, want := range map[string]struct{ refused, decision bool }{
		"NODE_BACKGROUND_UNAVAILABLE": {true, false}, "LOCATION_DISABLED": {true, true}, "CAMERA_PERMISSION_REQUIRED": {true, true},
		"LOCATION_PERMISSION_REQUIRED": {true, true}, "CONTACTS_PERMISSION_REQUIRED": {true, true}, "SYSTEM_RUN_DENIED": {true, true},
		"UNKNOWN_COMMAND": {true, true}, "INVALID_REQUEST": {true, true},
		// These do not say that nothing happened.
		"TIMEOUT": {}, "SMS_SEND_FAILED": {}, "PAYLOAD_TOO_LARGE": {}, "FAILED": {},
	} {
		t.Run(code, func(t *testing.T) {
			done := h.start(t.Context(), h.submit(n))
			asked := n.invoked()
			n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: asked.ID, NodeID: n.id, Error: &wire.InvokeError{Code: code, Message: "so it is"}})
			got := await(t, done, "the submit")
			if !want.refused {
				if got.err == nil || errors.Is(got.err, plan.ErrNotConnected) {
					t.Errorf("submitted %+v, %v, want an unknown outcome", got.Submitted, got.err)
				}
				return
			}
			must(t, got.err)
			if got.Delivery != plan.DeliveryRefused || got.Unasked || got.Report.Code != code || got.Report.RequiresDecision != want.decision || got.Report.Detail != "so it is" {
				t.Errorf("submitted %+v with %+v", got.Submitted, got.Report)
			}
		})
	}
}

// A node says UNAVAILABLE while it updates itself, and of a command that it does not have. The first passes, the second does not.
func TestUnavailableMayMeanNever(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	for message, passes := range map[string]bool{"node host is updating": true, "command not supported": false} {
		done := h.start(t.Context(), h.submit(n))
		asked := n.invoked()
		n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: asked.ID, NodeID: n.id, Error: &wire.InvokeError{Code: wire.InvokeUnavailable, Message: message}})
		got := await(t, done, "the submit")
		if again := errors.Is(got.err, plan.ErrNotConnected); again != passes || (!passes && got.Delivery != plan.DeliveryRefused) {
			t.Errorf("%s: %+v, %v", message, got.Submitted, got.err)
		}
	}
}

// Whether a device may be used is asked of the registry before it moves. One that does not answer lets nothing move.
func TestNothingMovesWhileTheRegistryDoesNotAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	command := h.submit(n)
	h.registry.fail(errDown)
	if _, err := h.gateway.Submit(t.Context(), command); !errors.Is(err, plan.ErrNotConnected) || !errors.Is(err, errDown) {
		t.Errorf("Submit = %v, want not connected, for want of the registry", err)
	}
}
