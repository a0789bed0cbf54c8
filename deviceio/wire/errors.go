package wire

import (
	"fmt"
	"strings"
)

// Codes of a FrameError (reference: OpenClaw Gateway protocol 4).
const (
	CodeNotPaired      = "NOT_PAIRED"
	CodeInvalidRequest = "INVALID_REQUEST"
	CodeForbidden      = "FORBIDDEN"
	CodeUnavailable    = "UNAVAILABLE"
)

// Values of FrameError.Details["code"] that a device acts on.
const (
	DetailPairingRequired     = "PAIRING_REQUIRED"
	DetailTokenMismatch       = "AUTH_TOKEN_MISMATCH"
	DetailSetupCode           = "AUTH_BOOTSTRAP_TOKEN_INVALID" // the setup code is unknown, over or used
	DetailDeviceTokenMismatch = "AUTH_DEVICE_TOKEN_MISMATCH"   // the stored device token is dead: forget it
	// NextStepWait in Details["recommendedNextStep"] keeps an unpaired node retrying until it is approved.
	NextStepWait = "wait_then_retry"
)

// Codes of an InvokeError that a device's client itself gives.
const (
	InvokeInvalidRequest = "INVALID_REQUEST" // the request could not be read, or is for another node
	InvokeUnknownCommand = "UNKNOWN_COMMAND" // not one of the commands announced at connect
	InvokeUnavailable    = "UNAVAILABLE"     // too much in flight: nothing ran, safe to send again
	InvokeFailed         = "FAILED"          // the handler gave a plain error
	InvokeTimeout        = "TIMEOUT"         // timeoutMs passed while it ran
	InvokeTooLarge       = "PAYLOAD_TOO_LARGE"
	InvokeDuplicate      = "DUPLICATE" // ran before, and its answer is no longer kept
)

// Codes of an InvokeError that a node gives instead of beginning: the command may not run now.
const (
	InvokeNotReady   = "NODE_NOT_READY"
	InvokeBackground = "NODE_BACKGROUND_UNAVAILABLE" // its app must be on the screen for that
	InvokeLocation   = "LOCATION_DISABLED"           // the device's own switch is off
	InvokeRunDenied  = "SYSTEM_RUN_DENIED"           // the node's own approvals say no
	// notPermitted ends CAMERA_PERMISSION_REQUIRED and its like.
	notPermitted = "_PERMISSION_REQUIRED"
)

// NotRun tells whether an invoke that failed with this code surely did not begin, so that its outcome is known: nothing happened.
func NotRun(code string) bool {
	switch code {
	case InvokeInvalidRequest, InvokeUnknownCommand, InvokeBackground, InvokeLocation, InvokeRunDenied, "PERMISSION_REQUIRED":
		return true
	}
	return strings.HasSuffix(code, notPermitted)
}

// Error makes a FrameError an error.
func (e *FrameError) Error() string {
	if detail := e.Detail(); detail != "" {
		return fmt.Sprintf("%s (%s): %s", e.Code, detail, e.Message)
	}
	return e.Code + ": " + e.Message
}

// Detail returns Details["code"], on which clients branch, or "".
func (e *FrameError) Detail() string {
	code, _ := e.Details["code"].(string)
	return code
}

// Error makes an InvokeError an error: a handler returns one to choose the code.
func (e *InvokeError) Error() string { return e.Code + ": " + e.Message }
