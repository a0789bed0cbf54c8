package wire

import "encoding/json"

// Frame is any message on the socket: one JSON object per WebSocket text frame (reference: OpenClaw Gateway protocol 4).
type Frame struct {
	Type string `json:"type"` // req, res, event
	// req and res
	ID     string          `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	OK     *bool           `json:"ok,omitempty"`
	// res and event
	Payload json.RawMessage `json:"payload,omitempty"`
	Error   *FrameError     `json:"error,omitempty"`
	// event
	Event string `json:"event,omitempty"`
	Seq   *int64 `json:"seq,omitempty"`
}

// FrameError is the error of a res. Clients branch on Details["code"].
type FrameError struct {
	Code         string         `json:"code"`
	Message      string         `json:"message"`
	Details      map[string]any `json:"details,omitempty"`
	Retryable    bool           `json:"retryable,omitempty"`
	RetryAfterMs int64          `json:"retryAfterMs,omitempty"`
}

// Frame types, methods and events of the protocol.
const (
	TypeReq   = "req"
	TypeRes   = "res"
	TypeEvent = "event"

	MethodConnect      = "connect"
	MethodInvokeResult = "node.invoke.result"
	MethodNodeEvent    = "node.event"
	// MethodInvokeHeld is ours, and in hello's features where a gateway has it: a device asks how old a command is.
	MethodInvokeHeld = "node.invoke.held"

	EventChallenge = "connect.challenge"
	EventTick      = "tick"
	EventShutdown  = "shutdown"
	EventInvoke    = "node.invoke.request"
	EventCancel    = "node.invoke.cancel"
)

// Commands of a DeviceAgent, invoked with node.invoke.request.
const (
	CommandSubmitTask   = "taskmanager.submitTask"
	CommandSubmitFlow   = "taskmanager.submitWorkflow"
	CommandTaskStatus   = "taskmanager.getTaskStatus"
	CommandCancelTask   = "taskmanager.cancelTask"
	CommandContext      = "taskmanager.getDevicePlanningContext"
	CommandSay          = "assistant.say"
	CommandAsk          = "assistant.ask"
	NodeTaskEvent       = "taskmanager.onTaskEvent"
	NodeObservation     = "semantic.observation"
	NodeAnswer          = "assistant.answer"
	ProtocolVersion     = 4
	RoleNode            = "node"
	RoleOperator        = "operator"
	CloseServiceRestart = 1012
	CloseTickTimeout    = 4000
)

// Limits of the protocol, in bytes.
const (
	MaxFrameBeforeConnect = 64 << 10
	MaxPayload            = 26214400
	MaxBuffered           = 52428800
)

// Challenge is the payload of connect.challenge, the first frame on every socket.
type Challenge struct {
	Nonce string `json:"nonce"`
	TS    int64  `json:"ts"` // Unix ms, the gateway's clock; the signature's signedAt
}

// InvokeRequest is the payload of node.invoke.request.
type InvokeRequest struct {
	ID             string `json:"id"`
	NodeID         string `json:"nodeId"`
	Command        string `json:"command"`
	ParamsJSON     string `json:"paramsJSON"` // JSON text in a string
	TimeoutMs      int64  `json:"timeoutMs,omitempty"`
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
}

// InvokeResult is the params of node.invoke.result. The payload comes as JSON or as JSON text; read it with Body.
type InvokeResult struct {
	ID          string          `json:"id"`
	NodeID      string          `json:"nodeId"`
	OK          bool            `json:"ok"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	PayloadJSON string          `json:"payloadJSON,omitempty"`
	Error       *InvokeError    `json:"error,omitempty"`
}

// InvokeError says why an invoke did not run.
type InvokeError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// InvokeCancel is the payload of node.invoke.cancel; no result follows. The params of node.invoke.held have the same form.
type InvokeCancel struct {
	InvokeID string `json:"invokeId"`
	NodeID   string `json:"nodeId"`
}

// InvokeHeld is the answer to node.invoke.held: whether the gateway still waits for the command's answer, and for how long
// it has, by its own clock. What waited in a socket, of a device that slept or a network that stood still, looks as new as any.
type InvokeHeld struct {
	Awaited bool  `json:"awaited"`
	HeldMs  int64 `json:"heldMs"`
}

// NodeEvent is the params of node.event. The payload comes as JSON or as JSON text; read it with Body.
type NodeEvent struct {
	Event       string          `json:"event"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	PayloadJSON string          `json:"payloadJSON,omitempty"`
}

// Body returns the payload in whichever form it came.
func (r InvokeResult) Body() json.RawMessage { return body(r.Payload, r.PayloadJSON) }

// Body returns the payload in whichever form it came.
func (e NodeEvent) Body() json.RawMessage { return body(e.Payload, e.PayloadJSON) }

func body(payload json.RawMessage, text string) json.RawMessage {
	if len(payload) > 0 && string(payload) != "null" {
		return payload
	}
	return json.RawMessage(text)
}
