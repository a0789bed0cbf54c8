package tests

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"errand/internal/pgtest"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// An installation whose registry is a PostgreSQL database: a robot comes in with a setup code, by nobody's hand, does what it is
// asked, and is cut off when it is thrown out.
func TestAnInstallationOnPostgreSQL(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Option("ERRAND_REGISTRY="+pgtest.Start(t).Fresh(t)), "ERRAND_AUTO_APPROVE=false")
	r := s.Robot(t, stack.Option("ERRAND_SETUP_CODE="+invite(t, s)), "ERRAND_TOKEN=no-token-at-all-for-it")
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")

	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/revoke", ""); status != http.StatusOK {
		t.Fatalf("revoke: %d %s", status, answer)
	}
	_, online, err := s.OpenRegistry(t).Route(t.Context(), r.ID)
	if err != nil || online {
		t.Errorf("there is a way to a revoked device: %v, %v", online, err)
	}
	stack.Eventually(t, "the robot is cut off", func(context.Context) (bool, error) {
		log, err := os.ReadFile(filepath.Join(s.Dir, "gateway.log"))
		return strings.Contains(string(log), "the device was revoked") && strings.Contains(string(log), "disconnected"), err
	})
}

// invite makes a setup code for the stack's gateway.
func invite(t *testing.T, s *stack.Stack) string {
	t.Helper()
	status, answer := s.Post(t, "/v1/invites", `{"gateway_url":"`+s.Gateway+`"}`)
	var made api.Invite
	if err := json.Unmarshal(answer, &made); err != nil || status != http.StatusCreated {
		t.Fatalf("invite: %d %s", status, answer)
	}
	return made.SetupCode
}

// A password in the registry's URL is in no output: neither in the settings' listing nor in an error.
func TestTheRegistrysPasswordIsShownNowhere(t *testing.T) {
	t.Parallel()
	const place = "ERRAND_REGISTRY=postgres://errand:hunter2@127.0.0.1:1/errand"
	for program, args := range map[string][]string{"errand": {"config"}, "gateway": nil} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("ERRAND_TEST_BIN"), program), args...)
		cmd.Env = append(os.Environ(), place, "ERRAND_TOKEN=0123456789abcdef", "ERRAND_GATEWAY_LISTEN=127.0.0.1:0")
		output, err := cmd.CombinedOutput()
		if strings.Contains(string(output), "hunter2") || !strings.Contains(string(output), "postgres://errand:xxxxx@127.0.0.1:1/errand") {
			t.Errorf("%s (%v) shows\n%s", program, err, output)
		}
		if program == "gateway" && err == nil {
			t.Error("the gateway starts without its registry")
		}
	}
}

// A robot that lost its key, and nothing else, says to be a robot that is known: it is turned away, an operator sees that at the known one,
// and it comes in like any new one once that is revoked.
func TestARobotWithAnotherKeyIsSeenByAnOperator(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)
	r.Stop(t)
	if err := os.Remove(filepath.Join(r.StateDir(), "device.key")); err != nil {
		t.Fatal(err)
	}
	r.StartUnready(t)
	stack.Eventually(t, "the robot is told why", func(context.Context) (bool, error) {
		return strings.Contains(r.Tail(), "DEVICE_KEY_CHANGED"), nil
	})
	for args, want := range map[string]string{"device list": r.ID + "  approved, OTHER KEY ", "device show " + r.ID: "OTHER KEY  its installation came with another key"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("ERRAND_TEST_BIN"), "errand"), strings.Fields(args)...)
		cmd.Env = append(os.Environ(), "ERRAND_API="+s.API, s.TokenEnv())
		if output, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(output), want) {
			t.Errorf("errand %s (%v) has no %q:\n%s", args, err, want, output)
		}
	}
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/revoke", ""); status != http.StatusOK {
		t.Fatalf("revoke: %d %s", status, answer)
	}
	r.AwaitReady(t)
}
