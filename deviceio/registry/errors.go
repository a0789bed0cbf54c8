package registry

import (
	"errors"
	"fmt"
)

var (
	// ErrUnreadable means that the file cannot be opened or made: its folder is missing, or may not be read or written.
	ErrUnreadable = errors.New("the registry file cannot be used")
	// ErrUnreachable means that the PostgreSQL server cannot be reached, or does not let us use the database.
	ErrUnreachable = errors.New("the registry's PostgreSQL server cannot be used")
	// ErrCorrupt means that the file is damaged or is no SQLite database. Restore it, or move it away: the devices then
	// pair again.
	ErrCorrupt = errors.New("the registry file is damaged or is not a registry")
	// ErrReplaced means that the file was removed, or another one put in its place, while it was open. Restart what uses it.
	ErrReplaced = errors.New("the registry file was removed or replaced: put it back, and restart the gateways and the API")
	// ErrNewerSchema means that a newer Errand wrote the registry. Run that one, or give this one a registry of its own.
	ErrNewerSchema = errors.New("the registry was written by a newer version")

	// ErrNoDevice means that no device has this id or name.
	ErrNoDevice = errors.New("no such device")
	// ErrAmbiguous means that several devices have this display name: give one a friendly name, or use the id.
	ErrAmbiguous = errors.New("several devices have this name")
	// ErrNameTaken means that another device already has this friendly name.
	ErrNameTaken = errors.New("another device has this friendly name")
	// ErrNoHome means that no home has this id.
	ErrNoHome = errors.New("no such home")
	// ErrNoUser means that no user has this id.
	ErrNoUser = errors.New("no such user")
	// ErrUserTaken means that what a user was to have is another user's: the id, a token or a speaker.
	ErrUserTaken = errors.New("another user has it")
	// ErrFenced means that a newer connection of the device exists: the caller holds the old one and must let go.
	ErrFenced = errors.New("a newer connection of this device exists")
	// ErrKeyChanged means that a device which is known comes with another key: it was set up anew, or somebody else
	// says that it is it.
	ErrKeyChanged = errors.New("a known device came with another key")
	// ErrNotAdvertised means that a command was to be approved that the device does not offer.
	ErrNotAdvertised = errors.New("the device does not advertise this command")
	// ErrSetupCode means that a setup code is not one of ours, is over, or was used by another device.
	ErrSetupCode = errors.New("the setup code is unknown, over or used")
	// ErrDifferentBody means that the same idempotency key came with another body before.
	ErrDifferentBody = errors.New("this idempotency key was used with another body")
)

// BootOrderError says that a device lists its boots in an order that contradicts the recorded one: its storage was put
// back to an older state, or two devices share a key. No epoch is given, since a wrong one would reorder its events.
type BootOrderError struct {
	DeviceID string
	BootID   string // the boot that does not fit
	Why      string
}

func (e *BootOrderError) Error() string {
	return fmt.Sprintf("device %s: boots: %q %s", short(e.DeviceID), e.BootID, e.Why)
}

// Is makes errors.Is(err, ErrBootOrder) true.
func (e *BootOrderError) Is(target error) bool { return target == ErrBootOrder }

// ErrBootOrder is what every *BootOrderError is.
var ErrBootOrder = errors.New("the boots list contradicts the recorded order")

// short is a device id as a person can read it.
func short(deviceID string) string {
	if len(deviceID) > 12 {
		return deviceID[:12]
	}
	return deviceID
}
