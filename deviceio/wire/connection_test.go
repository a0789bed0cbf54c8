package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

const agent = `{"minProtocol":3,"maxProtocol":4,"client":{"id":"robot","version":"1","platform":"android","mode":"node"},
	"role":"node","device":{"id":"ab","publicKey":"k","signature":"s","signedAt":1},
	"errand":{"profile":{"status":true,"dedupe":true,"outbox":true},"boots":["b1","b2"],"store_id":"s-1","retention_s":86400}}`

func TestParseConnectOfADeviceAgent(t *testing.T) {
	c, err := ParseConnect(json.RawMessage(agent))
	require.NoError(t, err)
	require.Equal(t, &Errand{Profile: Profile{Status: true, Dedupe: true, Outbox: true}, Boots: []string{"b1", "b2"}, StoreID: "s-1", RetentionS: 86400}, c.Errand)
}

// Go writes an empty list as null where nobody thought of it: null is absent, at every depth.
func TestParseConnectTakesNullForAbsent(t *testing.T) {
	text := strings.Replace(agent, `"role"`, `"caps":null,"scopes":null,"permissions":{"a":null},"auth":{"token":null},"role"`, 1)
	_, err := ParseConnect(json.RawMessage(text))
	require.NoError(t, err)
}

func TestParseConnectRefuses(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("b%d", i)
	}
	boots, err := json.Marshal(many)
	require.NoError(t, err)
	for replace, path := range map[[2]string]string{
		{`"minProtocol":3,`, ``}:                                            "minProtocol",
		{`"minProtocol":3`, `"minProtocol":5`}:                              "minProtocol",
		{`"maxProtocol":4`, `"maxProtocol":3`}:                              "minProtocol",
		{`"maxProtocol":4`, `"maxProtocol":"4"`}:                            "maxProtocol",
		{`"mode":"node"`, `"mode":""`}:                                      "client.mode",
		{`"role":"node",`, ``}:                                              "role",
		{`"publicKey":"k",`, ``}:                                            "device.publicKey",
		{`"signedAt":1`, `"signedAt":1.5`}:                                  "device.signedAt",
		{`["b1","b2"]`, `[]`}:                                               "errand.boots",
		{`["b1","b2"]`, `["b1","b1"]`}:                                      "errand.boots",
		{`["b1","b2"]`, string(boots)}:                                      "errand.boots",
		{`["b1","b2"]`, `["b1","b/2"]`}:                                     "errand.boots[1]",
		{`["b1","b2"]`, `["` + strings.Repeat("b", 65) + `"]`}:              "errand.boots[0]",
		{`"store_id":"s-1"`, `"store_id":""`}:                               "errand.store_id",
		{`"retention_s":86400`, `"retention_s":-1`}:                         "errand.retention_s",
		{`"dedupe":true`, `"dedupe":1`}:                                     "errand.profile.dedupe",
		{`"role"`, `"commands":[""],"role"`}:                                "commands[0]",
		{`"role"`, `"permissions":{"camera":"yes"},"role"`}:                 "permissions.camera",
		{`"role"`, `"role":"operator","role"`}:                              "role",
		{`"role"`, `"userAgent":"` + strings.Repeat("x", 513) + `","role"`}: "userAgent",
	} {
		text := strings.Replace(agent, replace[0], replace[1], 1)
		require.NotEqual(t, agent, text)
		_, err := ParseConnect(json.RawMessage(text))
		var faults border.Faults
		require.ErrorAs(t, err, &faults, text)
		require.Equal(t, path, faults[0].Path, "%s: %v", text, faults)
	}
	_, err = ParseConnect(append(json.RawMessage(agent), make([]byte, MaxFrameBeforeConnect)...))
	require.Error(t, err)
	_, err = ParseConnect(json.RawMessage(`[]`))
	require.Error(t, err)
}

// The role is the gateway's to judge: an operator gets a reason of its own.
func TestParseConnectReadsAnOperator(t *testing.T) {
	c, err := ParseConnect(json.RawMessage(strings.Replace(agent, `"role":"node"`, `"role":"operator"`, 1)))
	require.NoError(t, err)
	require.Equal(t, RoleOperator, c.Role)
}

func TestParseConnectionDocuments(t *testing.T) {
	ch, err := ParseChallenge(json.RawMessage(`{"nonce":"n","ts":1796029570062}`))
	require.NoError(t, err)
	require.Equal(t, Challenge{Nonce: "n", TS: 1796029570062}, ch)
	_, err = ParseChallenge(json.RawMessage(`{"nonce":"","ts":-1}`))
	require.Error(t, err)

	h, err := ParseHello(json.RawMessage(`{"type":"hello-ok","protocol":4,"server":{"version":"1","connId":"c"},"features":{"methods":null,"events":null},
		"snapshot":{"presence":null,"health":{}},"auth":{"role":"node","scopes":null,"deviceToken":"dt"},"policy":{"maxPayload":1,"maxBufferedBytes":1,"tickIntervalMs":30000}}`))
	require.NoError(t, err)
	require.Equal(t, int64(30000), h.Policy.TickIntervalMs)
	require.Equal(t, "dt", h.Auth.DeviceToken)
	for _, bad := range []string{`{"type":"hello","protocol":4,"policy":{"tickIntervalMs":1}}`, `{"type":"hello-ok","protocol":4,"policy":{"tickIntervalMs":0}}`, `{"type":"hello-ok","protocol":4}`} {
		_, err = ParseHello(json.RawMessage(bad))
		require.Error(t, err, bad)
	}

	cancel, err := ParseInvokeCancel(json.RawMessage(`{"invokeId":"i","nodeId":"n"}`))
	require.NoError(t, err)
	require.Equal(t, InvokeCancel{InvokeID: "i", NodeID: "n"}, cancel)
	_, err = ParseInvokeCancel(json.RawMessage(`{}`))
	require.Error(t, err)

	held, err := ParseInvokeHeld(json.RawMessage(`{"awaited":true,"heldMs":12}`))
	require.NoError(t, err)
	require.Equal(t, InvokeHeld{Awaited: true, HeldMs: 12}, held)
	for _, bad := range []string{`{"awaited":true}`, `{"awaited":"true","heldMs":1}`, `{"awaited":true,"heldMs":-1}`} {
		_, err = ParseInvokeHeld(json.RawMessage(bad))
		require.Error(t, err, bad)
	}

	ack, err := ParseEventAck(json.RawMessage(`{"eventId":"b-1","ack":"late"}`))
	require.NoError(t, err)
	require.Equal(t, EventAck{EventID: "b-1", Ack: AckLate}, ack)
	_, err = ParseEventAck(json.RawMessage(`{"event_id":"b-1","ack":"ok"}`))
	require.Error(t, err)
}

// Payloads belong to others: they come through byte for byte, in either form, whatever our limits on text are.
func TestPayloadsComeThroughUntouched(t *testing.T) {
	payload := `{"n":12345678901234567890, "name":"` + "\u110b\u1161\u11ab" + `", "list":[` + strings.Repeat("0,", 20_000) + `0], "a":null}`
	asText, err := json.Marshal(payload)
	require.NoError(t, err)
	for _, field := range []string{`"payload":` + payload, `"payloadJSON":` + string(asText), `"payload":null,"payloadJSON":` + string(asText)} {
		r, err := ParseInvokeResult(json.RawMessage(`{"id":"i","nodeId":"n","ok":true,` + field + `}`))
		require.NoError(t, err)
		require.Equal(t, payload, string(r.Body()))
		e, err := ParseNodeEvent(json.RawMessage(`{"event":"e",` + field + `}`))
		require.NoError(t, err)
		require.Equal(t, payload, string(e.Body()))
	}
	r, err := ParseInvokeRequest(json.RawMessage(`{"id":"i","nodeId":"n","command":"c","paramsJSON":` + string(asText) + `,"timeoutMs":5}`))
	require.NoError(t, err)
	require.Equal(t, InvokeRequest{ID: "i", NodeID: "n", Command: "c", ParamsJSON: payload, TimeoutMs: 5}, r)
}

func TestParseInvokeRefuses(t *testing.T) {
	for _, text := range []string{`{"id":"i"}`, `{"id":"i","ok":1}`, `{"id":"i","ok":true,"payloadJSON":{}}`, `{"id":"i","ok":true,"payloadJSON":"{"}`,
		`{"id":"i","ok":false,"error":"x"}`, `{"ok":true}`, `{"id":"i","id":"j","ok":true}`, `[]`, `{`} {
		_, err := ParseInvokeResult(json.RawMessage(text))
		var faults border.Faults
		require.ErrorAs(t, err, &faults, text)
	}
	for _, text := range []string{`{}`, `{"event":"e","payloadJSON":"{"}`, `[]`} {
		_, err := ParseNodeEvent(json.RawMessage(text))
		require.Error(t, err, text)
	}
	r, err := ParseInvokeRequest(json.RawMessage(`{"id":"i-7","command":"c","paramsJSON":"{"}`))
	require.Error(t, err)
	require.Equal(t, InvokeRequest{ID: "i-7"}, r, "the id is kept, to answer under it")
}

// Schemas are files others read: each is valid JSON, says its draft, and documents itself.
func TestSchemasIntroduceThemselves(t *testing.T) {
	entries, err := schemaFiles.ReadDir("schema")
	require.NoError(t, err)
	require.Len(t, entries, 24)
	for _, e := range entries {
		text, err := fs.ReadFile(Schemas(), e.Name())
		require.NoError(t, err)
		var schema map[string]any
		require.NoError(t, json.Unmarshal(text, &schema))
		require.NotEmpty(t, border.MustCompile(e.Name(), text).Check(nil), "%s compiles, and takes no null", e.Name())
		require.Equal(t, "https://json-schema.org/draft/2020-12/schema", schema["$schema"], e.Name())
		for _, field := range []string{"title", "description"} {
			require.NotEmpty(t, schema[field], "%s: %v", e.Name(), maps.Keys(schema))
		}
	}
}

func FuzzParseConnect(f *testing.F) {
	f.Add([]byte(agent))
	nodes, err := os.ReadFile("testdata/connect/openclaw-nodes.jsonl")
	require.NoError(f, err)
	for line := range strings.Lines(string(nodes)) {
		var node struct {
			Params json.RawMessage `json:"params"`
		}
		require.NoError(f, json.Unmarshal([]byte(line), &node))
		f.Add([]byte(node.Params))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConnect(text)
		if err != nil {
			var faults border.Faults
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("a failure must be faults, is %#v", err)
			}
			return
		}
		if c.Role == "" || c.Device.ID == "" || c.Errand != nil && len(c.Errand.Boots) == 0 {
			t.Fatalf("passed: %+v", c)
		}
		if err := VerifyIdentity(c, Challenge{Nonce: "never given", TS: 1}, 1); err == nil {
			t.Fatal("nobody was challenged with this nonce")
		}
	})
}
