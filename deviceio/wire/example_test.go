package wire_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"errand/deviceio/wire"
)

// An event in Android's spelling is the same event.
func ExampleParseTaskEvent() {
	e, err := wire.ParseTaskEvent(json.RawMessage(`{"eventId":"b1-7","bootId":"b1","seq":7,"eventName":"FAILED",
		"taskMethod":"setMoveTo","operationId":"p-1/move/1","reasonCode":"MOVE_POLICY_NOT_ALLOWED","requiresCloudDecision":true}`))
	fmt.Println(e.EventName, e.OperationID, e.ReasonCode, *e.RequiresCloudDecision, err)
	// Output: FAILED p-1/move/1 MOVE_POLICY_NOT_ALLOWED true <nil>
}

// What cannot be used still says whose it was: the gateway acknowledges it as refused, and the plan asks the device.
func ExampleRefusedEvent() {
	_, err := wire.ParseTaskEvent(json.RawMessage(`{"event_id":"b1-8","boot_id":"b1","seq":8,"event_name":"COMPLETED",
		"eventName":"FAILED","operation_id":"p-1/move/1","progress":100}`))
	var refused *wire.RefusedEvent
	if errors.As(err, &refused) {
		fmt.Println(refused.EventID, refused.OperationID)
		fmt.Println(refused.Faults)
	}
	// Output:
	// b1-8 p-1/move/1
	// event_name: is given as event_name and as eventName, with different values: send one
	// progress: is 100, may be at most 1
}

// A device signs the challenge of its socket; the gateway checks.
func ExampleSign() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // a real device keeps a random one
	challenge := wire.Challenge{Nonce: "n-1", TS: 1796029570062}
	connect := wire.Connect{Role: wire.RoleNode, Client: wire.Client{ID: "robot", Mode: "node", Platform: "Android"}, Auth: wire.Auth{Token: "t"}}
	wire.Sign(key, &connect, challenge)
	fmt.Println(wire.VerifyIdentity(connect, challenge, challenge.TS+1000))

	connect.Auth.Token = "another"
	fmt.Println(wire.VerifyIdentity(connect, challenge, challenge.TS+1000))
	// Output:
	// <nil>
	// DEVICE_AUTH_SIGNATURE_INVALID: device.signature does not fit: it covers the text of SignatureText, v3 or v2
}
