package stack

import (
	"encoding/json"
	"testing"

	"errand/deviceio/robot"
	"errand/plan/lease"
)

// Motions returns the robot's drives, from the world's own file.
func (r *Robot) Motions(tb testing.TB) []robot.Motion {
	tb.Helper()
	motions, err := robot.ReadMotions(r.dir)
	if err != nil {
		tb.Fatalf("read the ledger: %v", err)
	}
	return motions
}

// Lease asks the API whose turn it is on a device.
func (s *Stack) Lease(tb testing.TB, deviceID string) lease.View {
	tb.Helper()
	status, answer := s.Get(tb, "/v1/devices/"+deviceID)
	var device struct {
		Lease   *lease.View `json:"lease"`
		Unknown string      `json:"lease_unknown"`
	}
	if err := json.Unmarshal(answer, &device); err != nil || status != 200 || device.Lease == nil {
		tb.Fatalf("the device's lease: %d %s (%v)", status, answer, err)
	}
	return *device.Lease
}
