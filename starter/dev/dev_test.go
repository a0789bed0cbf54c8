package dev

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"errand/internal/config"
)

// options are those of a house whose every program is played by the test binary.
func options(t *testing.T) (Options, *buffer) {
	t.Helper()
	t.Setenv("PATH", t.TempDir()) // no temporal CLI
	for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "ERRAND_UI"} {
		t.Setenv(name, "") // so that it is put back at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	out := new(buffer)
	return Options{Dev: config.Dev{Bin: programsOf(t)}, StateDir: t.TempDir(), FreePorts: true, Out: out, Hurry: t.Context()}, out
}

var parts = []string{"temporal", "worker", "gateway", "api", "robot"}

func checkNothingLeft(t *testing.T, dir string) {
	t.Helper()
	for _, name := range parts {
		pid, err := strconv.Atoi(told(t, dir, name)["PID"])
		if err != nil || !gone(pid) {
			t.Errorf("%s (%d) is still there: %v", name, pid, err)
		}
	}
}

func TestOnceRunsWhenAllIsUpAndThenNothingIsLeft(t *testing.T) {
	o, out := options(t)
	t.Setenv("TEMPORAL_TLS", "true") // the person's own, for another server
	var up Running
	o.Once = func(_ context.Context, r Running) error {
		up = r
		for _, name := range parts {
			if pid, err := strconv.Atoi(told(t, o.StateDir, name)["PID"]); err != nil || gone(pid) {
				t.Errorf("%s is not there: %v", name, err)
			}
		}
		return nil
	}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	checkNothingLeft(t, o.StateDir)
	if up.DeviceID != "device-1" || len(up.Token) != 64 {
		t.Errorf("running %+v", up)
	}
	worker, gateway, api, robot := told(t, o.StateDir, "worker"), told(t, o.StateDir, "gateway"), told(t, o.StateDir, "api"), told(t, o.StateDir, "robot")
	if worker["TEMPORAL_ADDRESS"] != up.Temporal || worker["TEMPORAL_TLS"] != "" || worker["TEMPORAL_CONFIG_FILE"] != os.DevNull {
		t.Errorf("the worker's Temporal: %q, TLS %q", worker["TEMPORAL_ADDRESS"], worker["TEMPORAL_TLS"])
	}
	if "http://"+api["ERRAND_API_LISTEN"] != up.API || api["ERRAND_TOKEN"] != up.Token || api["ERRAND_UI"] != up.UI || up.UI == "" {
		t.Errorf("the API was told %q, UI %q", api["ERRAND_API_LISTEN"], api["ERRAND_UI"])
	}
	if robot["ERRAND_GATEWAY_URL"] != "ws://"+gateway["ERRAND_GATEWAY_LISTEN"]+"/" || robot["ERRAND_TOKEN"] != gateway["ERRAND_TOKEN"] {
		t.Errorf("the robot goes to %q, the gateway is at %q", robot["ERRAND_GATEWAY_URL"], gateway["ERRAND_GATEWAY_LISTEN"])
	}
	if robot["ERRAND_TOKEN"] == up.Token || worker["ERRAND_TOKEN"] != "" {
		t.Error("the token that commands is known to those who need not command")
	}
	for _, want := range []string{"starting Temporal", "starting the worker", "starting a simulated robot", "all is ready", "stopping everything"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing was said of %q:\n%s", want, out)
		}
	}
}

func TestATemporalCLIOnThePathIsUsedInsteadOfOurs(t *testing.T) {
	o, out := options(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(os.Getenv("PATH"), "temporal")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(o.Bin, "temporal-dev")); err != nil {
		t.Fatal(err)
	}
	o.Once = func(context.Context, Running) error { return nil }
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	args := told(t, o.StateDir, "temporal")["ARGS"]
	for _, want := range []string{"server start-dev --ip 127.0.0.1", "--search-attribute ErrandDevice=Keyword", "temporal-cli.db"} {
		if !strings.Contains(args, want) {
			t.Errorf("the CLI was started without %q: %s", want, args)
		}
	}
	if !strings.Contains(out.String(), "Temporal and its UI (temporal)") {
		t.Errorf("said:\n%s", out)
	}
}

func TestInterruptingLeavesNothing(t *testing.T) {
	for name, once := range map[string]bool{"while it stays": false, "in the middle of a run": true} {
		t.Run(name, func(t *testing.T) {
			o, out := options(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if once {
				o.Once = func(ctx context.Context, _ Running) error { interrupt(); <-ctx.Done(); return ctx.Err() }
			}
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, o) }()
			if !once {
				eventually(t, "all is up", func() bool { return strings.Contains(out.String(), "Ctrl-C stops everything") })
				interrupt()
			}
			err := <-ended
			if once != errors.Is(err, ErrInterrupted) || (!once && err != nil) {
				t.Errorf("Run = %v", err)
			}
			checkNothingLeft(t, o.StateDir)
		})
	}
}

func TestADeathTakesEverythingDown(t *testing.T) {
	o, _ := options(t)
	t.Setenv("FAKE_DIES", "robot")
	err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "robot died: exit status 3") || !strings.Contains(err.Error(), "fail: no such thing") {
		t.Errorf("Run = %v", err)
	}
	for _, name := range parts[:4] {
		if pid, err := strconv.Atoi(told(t, o.StateDir, name)["PID"]); err != nil || !gone(pid) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestAFailedRunFailsAndAFreshFolderStaysForItsLogs(t *testing.T) {
	o, out := options(t)
	o.Fresh = true
	t.Setenv("TMPDIR", t.TempDir())
	failure := errors.New("the plan did not complete")
	o.Once = func(context.Context, Running) error { return failure }
	if err := Run(t.Context(), o); !errors.Is(err, failure) {
		t.Errorf("Run = %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "errand-*", "logs", "*.log"))
	if err != nil || len(left) != 5 || !strings.Contains(out.String(), filepath.Dir(left[0])) {
		t.Errorf("logs %v, %v; said:\n%s", left, err, out)
	}
}

func TestAFreshFolderIsRemoved(t *testing.T) {
	o, _ := options(t)
	o.Fresh = true
	t.Setenv("TMPDIR", t.TempDir())
	o.Once = func(context.Context, Running) error { return nil }
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "errand-*")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAMissingProgramIsToldBeforeAnythingRuns(t *testing.T) {
	o, out := options(t)
	if err := os.Remove(filepath.Join(o.Bin, "robot")); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("Run = %v", err)
	}
	if strings.Contains(out.String(), "starting") {
		t.Errorf("something was started:\n%s", out)
	}
}

func TestTakenPortsAreAllToldWithTheirSettings(t *testing.T) {
	o, out := options(t)
	o.FreePorts = false
	for _, port := range []*int{&o.TemporalPort, &o.UIPort, &o.APIPort, &o.GatewayPort} {
		*port = takePort(t)
	}
	err := Run(t.Context(), o)
	if err == nil {
		t.Fatal("Run took ports that are taken")
	}
	for _, want := range []string{"ERRAND_TEMPORAL_PORT", "ERRAND_UI_PORT", "ERRAND_API_PORT", "ERRAND_GATEWAY_PORT", strconv.Itoa(o.APIPort), "--free-ports"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %s: %v", want, err)
		}
	}
	if strings.Contains(out.String(), "starting") {
		t.Errorf("something was started:\n%s", out)
	}
}

// takePort listens on a port until the test ends.
func takePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%v is no TCP address", l.Addr())
	}
	return tcp.Port
}

func TestFreePortsAreDifferent(t *testing.T) {
	var p Ports
	if err := p.probe(t.Context(), true, true); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{p.API: true, p.Gateway: true, p.Temporal: true, p.UI: true}
	if len(seen) != 4 || seen[0] {
		t.Errorf("%+v", p)
	}
}

func TestTheStateFolderIsForOneAndItsTokensAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openState(dir); err == nil || !strings.Contains(err.Error(), "another `errand dev`") {
		t.Errorf("a second one: %v", err)
	}
	first, err := s.token(TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, TokenFile))
	if err != nil || info.Mode().Perm() != 0o600 || len(first) != 64 {
		t.Errorf("token of %d characters, mode %v, %v", len(first), info.Mode(), err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	s, err = openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.token(TokenFile)
	if err != nil || again != first {
		t.Errorf("the token changed: %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// The stand-in is started for the worker, and is there as long as the rest; nobody else is told a key.
func TestAStandInForAModelIsStartedForTheWorker(t *testing.T) {
	o, _ := options(t)
	o.LLM = LLMStandin
	t.Setenv("ERRAND_LLM_KEY", "the person's own")
	var endpoint string
	o.Once = func(ctx context.Context, _ Running) error {
		worker := told(t, o.StateDir, "worker")
		if endpoint = worker["ERRAND_LLM_ENDPOINT"]; worker["ERRAND_LLM"] != "gemini" || worker["ERRAND_LLM_KEY"] != standinKey {
			t.Errorf("the worker was told %q at %q", worker["ERRAND_LLM"], endpoint)
		}
		if !strings.HasPrefix(worker["ERRAND_LLM_BUDGET"], o.StateDir) {
			t.Errorf("the budget is in %q", worker["ERRAND_LLM_BUDGET"])
		}
		for _, name := range []string{"gateway", "api", "robot"} {
			if key, ok := told(t, o.StateDir, name)["ERRAND_LLM_KEY"]; ok {
				t.Errorf("%s was told the key %q", name, key)
			}
		}
		return models(ctx, endpoint)
	}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := models(t.Context(), endpoint); err == nil {
		t.Error("the stand-in is still there")
	}
}

// models asks a model's server for its list.
func models(ctx context.Context, endpoint string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/v1/models", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// A model of the settings is the worker's to ask, with the person's own key; without one nothing is asked.
func TestTheModelsKeyIsToldToTheWorkerAlone(t *testing.T) {
	o, _ := options(t)
	t.Setenv("ERRAND_LLM_KEY", "the person's own")
	o.Once = func(context.Context, Running) error {
		if key := told(t, o.StateDir, "worker")["ERRAND_LLM_KEY"]; key != "the person's own" {
			t.Errorf("the worker was told %q", key)
		}
		if key, ok := told(t, o.StateDir, "robot")["ERRAND_LLM_KEY"]; ok {
			t.Errorf("the robot was told %q", key)
		}
		return nil
	}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}
