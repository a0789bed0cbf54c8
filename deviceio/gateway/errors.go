package gateway

import (
	"errors"
	"fmt"
)

var (
	// ErrPlanOver means that the plan ran and is over: the event is late.
	ErrPlanOver = errors.New("the plan is over")
	// ErrPlanUnknown means that there is no such plan, or none any more.
	ErrPlanUnknown = errors.New("there is no such plan")
	// ErrNoLease means that no plan has anything to do with the device just now.
	ErrNoLease = errors.New("no plan has the device")
	// ErrSignalRefused means that the plan's server will never take this signal, however often it is sent.
	ErrSignalRefused = errors.New("the signal is refused for good")

	// ErrSocketLost means that the socket went away after a command was sent: the device may have it.
	ErrSocketLost = errors.New("the socket was lost before the answer: the device may have the command")
	// ErrNoAnswer means that a command was sent and its time is up: the device may have it.
	ErrNoAnswer = errors.New("no answer in time: the device may have the command")
	// ErrBadAnswer means that the device answered something unreadable: it has the command.
	ErrBadAnswer = errors.New("the device's answer cannot be read")
)

// DeviceError is a device's word that a command did not run as asked.
type DeviceError struct {
	Command string // e.g. taskmanager.submitTask
	Code    string // the device's; see wire.InvokeUnavailable and its neighbours
	Message string
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("%s: the device says %s: %s", e.Command, e.Code, e.Message)
}
