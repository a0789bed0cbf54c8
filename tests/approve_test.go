package tests

import (
	"context"
	"strings"
	"testing"

	"errand/plan"
	"errand/tests/stack"
)

// Without auto approval a device waits until a person lets it in; a revoked one is thrown out, and its plans wait.
func TestADeviceIsLetInAndThrownOut(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, "ERRAND_AUTO_APPROVE=false")
	r := s.NewRobot(t)
	r.StartUnready(t)
	registered := s.OpenRegistry(t)
	var id string
	stack.Eventually(t, "the device waits to be let in", func(ctx context.Context) (bool, error) {
		devices, err := registered.Devices(ctx)
		if err != nil || len(devices) == 0 {
			return false, err
		}
		id = devices[0].ID
		return devices[0].State == "pending", nil
	})
	status, answer := s.Post(t, "/v1/utterances", `{"recognized_text":"충전하러 가","device_id":"`+id+`"}`)
	if status != 409 || !strings.Contains(string(answer), "device_not_approved") {
		t.Errorf("a plan for a device that is not let in: %d %s", status, answer)
	}
	if status, answer := s.Post(t, "/v1/devices/"+id+"/approve", ""); status != 200 {
		t.Fatalf("approve: %d %s", status, answer)
	}
	r.AwaitReady(t)
	r.ID = id
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")

	if status, answer := s.Post(t, "/v1/devices/"+id+"/revoke", ""); status != 200 {
		t.Fatalf("revoke: %d %s", status, answer)
	}
	stack.Eventually(t, "the revoked device is off", func(ctx context.Context) (bool, error) {
		_, online, err := registered.Route(ctx, id)
		return err == nil && !online, err
	})
	wantEffects(t, r, "arrived", "purified", "docked")
}
