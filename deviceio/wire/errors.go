package wire

import "fmt"

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
	DetailDeviceTokenMismatch = "AUTH_DEVICE_TOKEN_MISMATCH" // the stored device token is dead: forget it
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
