package wire

import (
	"encoding/json"
	"fmt"

	"errand/internal/border"
)

// ParseConnect reads the params of connect. It checks forms only: who the device is, VerifyIdentity tells, and whether
// role and token are welcome, the gateway. Text is read in NFC, so sign text that is in NFC. Failures are border.Faults;
// the code protocol_mismatch says that the two sides share no version.
func ParseConnect(raw json.RawMessage) (Connect, error) {
	c, err := parse[Connect](connectDoc, raw)
	if err != nil {
		return Connect{}, err
	}
	if c.MinProtocol > ProtocolVersion || c.MaxProtocol < ProtocolVersion {
		return Connect{}, border.Faults{{Path: "minProtocol", Code: "protocol_mismatch", Message: fmt.Sprintf(
			"offers protocol %d to %d, this gateway speaks %d", c.MinProtocol, c.MaxProtocol, ProtocolVersion)}}
	}
	return c, nil
}

// ParseChallenge reads the payload of connect.challenge.
func ParseChallenge(raw json.RawMessage) (Challenge, error) {
	return parse[Challenge](challengeDoc, raw)
}

// ParseHello reads the payload of the answer to connect.
func ParseHello(raw json.RawMessage) (Hello, error) { return parse[Hello](helloDoc, raw) }

// ParseInvokeCancel reads the payload of node.invoke.cancel.
func ParseInvokeCancel(raw json.RawMessage) (InvokeCancel, error) {
	return parse[InvokeCancel](invokeCancelDoc, raw)
}

// ParseInvokeHeld reads the payload of the answer to node.invoke.held.
func ParseInvokeHeld(raw json.RawMessage) (InvokeHeld, error) {
	return parse[InvokeHeld](invokeHeldDoc, raw)
}

// ParseInvokeRequest reads the payload of node.invoke.request. ParamsJSON is checked to be JSON, no more.
// A request that fails comes back with its id alone, where that could be read, so that it can be answered.
func ParseInvokeRequest(raw json.RawMessage) (InvokeRequest, error) {
	var r InvokeRequest
	kept, err := invokeDoc.readAround(raw, &r, "paramsJSON")
	if err == nil {
		r.ParamsJSON, err = jsonText(kept, "paramsJSON")
	}
	if err != nil {
		fields, _ := members(raw)
		return InvokeRequest{ID: text(fields["id"])}, err
	}
	return r, nil
}

// ParseInvokeResult reads the params of node.invoke.result. The payload stays as it came, in either form.
func ParseInvokeResult(raw json.RawMessage) (InvokeResult, error) {
	var r InvokeResult
	kept, err := invokeResultDoc.readAround(raw, &r, "payload", "payloadJSON")
	if err != nil {
		return InvokeResult{}, err
	}
	if r.PayloadJSON, err = jsonText(kept, "payloadJSON"); err != nil {
		return InvokeResult{}, err
	}
	r.Payload = kept["payload"]
	return r, nil
}

// ParseNodeEvent reads the params of node.event. The payload stays as it came, in either form.
func ParseNodeEvent(raw json.RawMessage) (NodeEvent, error) {
	var e NodeEvent
	kept, err := nodeEventDoc.readAround(raw, &e, "payload", "payloadJSON")
	if err != nil {
		return NodeEvent{}, err
	}
	if e.PayloadJSON, err = jsonText(kept, "payloadJSON"); err != nil {
		return NodeEvent{}, err
	}
	e.Payload = kept["payload"]
	return e, nil
}

// jsonText reads a string that holds a JSON text; absent or empty is "".
func jsonText(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", border.Faults{{Path: name, Code: "wrong_type", Message: "must be a string that holds JSON"}}
	}
	if s != "" && !json.Valid([]byte(s)) {
		return "", border.Faults{{Path: name, Code: "bad_json", Message: "is a string, but what it holds is not JSON"}}
	}
	return s, nil
}
