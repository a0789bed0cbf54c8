package tests

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/tests/stack"
)

// Every program says in one message what is wrong and what to do, and starts nothing.
func TestProgramsRefuseToStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	broken := write("broken.yaml", "catalog_version: [\n")
	wrong := write("wrong.yaml", "catalog_version: \"1\"\ncapabilities: 7\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	token := "ERRAND_TOKEN=0123456789abcdef0123456789abcdef"
	registry := "ERRAND_REGISTRY=" + filepath.Join(dir, "registry.db")
	nowhere := fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", stack.FreePort(t))
	for name, c := range map[string]struct {
		program string
		args    []string
		env     []string
		says    []string
	}{
		"worker, no Temporal":       {"worker", nil, []string{nowhere}, []string{"Temporal", strings.TrimPrefix(nowhere, "TEMPORAL_ADDRESS=")}},
		"worker, missing catalog":   {"worker", nil, []string{nowhere, "ERRAND_CATALOG=" + filepath.Join(dir, "none.yaml")}, []string{"none.yaml"}},
		"worker, broken catalog":    {"worker", nil, []string{nowhere, "ERRAND_CATALOG=" + broken}, []string{"broken.yaml:"}},
		"worker, wrong catalog":     {"worker", nil, []string{nowhere, "ERRAND_CATALOG=" + wrong}, []string{"wrong.yaml:2", "capabilities"}},
		"gateway, no token":         {"gateway", nil, []string{nowhere, registry, "ERRAND_TOKEN="}, []string{"ERRAND_TOKEN"}},
		"gateway, no Temporal":      {"gateway", nil, []string{nowhere, registry, token, "ERRAND_GATEWAY_LISTEN=127.0.0.1:0"}, []string{"Temporal"}},
		"gateway, taken port":       {"gateway", nil, []string{nowhere, registry, token, "ERRAND_GATEWAY_LISTEN=" + taken.Addr().String()}, []string{"ERRAND_GATEWAY_LISTEN", "in use"}},
		"gateway, broken registry":  {"gateway", nil, []string{nowhere, "ERRAND_REGISTRY=" + broken, token}, []string{"broken.yaml"}},
		"starter, no token":         {"errand", []string{"serve"}, []string{nowhere, registry, "ERRAND_TOKEN="}, []string{"ERRAND_TOKEN"}},
		"starter, no Temporal":      {"errand", []string{"serve"}, []string{nowhere, registry, token, "ERRAND_API_LISTEN=127.0.0.1:0"}, []string{"Temporal"}},
		"starter, taken port":       {"errand", []string{"serve"}, []string{nowhere, registry, token, "ERRAND_API_LISTEN=" + taken.Addr().String()}, []string{"ERRAND_API_LISTEN", "in use"}},
		"dev, taken port":           {"errand", []string{"dev", "--state-dir", filepath.Join(dir, "dev")}, []string{"ERRAND_API_PORT=" + port(taken)}, []string{"ERRAND_API_PORT", "taken"}},
		"lint, broken catalog":      {"errand", []string{"catalog", "lint", wrong}, nil, []string{"wrong.yaml:2", "capabilities"}},
		"validate, missing file":    {"errand", []string{"plan", "validate", filepath.Join(dir, "none.json")}, nil, []string{"none.json"}},
		"validate, broken document": {"errand", []string{"plan", "validate", broken}, nil, []string{"JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv("ERRAND_TEST_BIN"), c.program), c.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), append([]string{"TEMPORAL_CONFIG_FILE=" + os.DevNull}, c.env...)...)
			output, err := cmd.CombinedOutput()
			if err == nil || ctx.Err() != nil {
				t.Fatalf("it did not refuse (%v):\n%s", err, output)
			}
			for _, words := range c.says {
				if !strings.Contains(string(output), words) {
					t.Errorf("the answer does not say %q:\n%s", words, output)
				}
			}
			if n := strings.Count(string(output), "\n"); n > 8 {
				t.Errorf("the answer has %d lines:\n%s", n, output)
			}
		})
	}
}

func port(l net.Listener) string {
	_, p, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return ""
	}
	return p
}

// Bad requests get a clear answer, and nothing is started (contract.md §2, §11).
func TestBadRequestsStartNothing(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)
	device := `"device_id":"` + r.ID + `"`
	for name, c := range map[string]struct {
		path, authorization, body string
		status                    int
		says                      string
	}{
		"no token":       {"/v1/utterances", "", `{"recognized_text":"x"}`, 401, "token"},
		"wrong token":    {"/v1/utterances", "Bearer nope", `{"recognized_text":"x"}`, 401, "token"},
		"unknown device": {"/v1/utterances", s.Authorization(), `{"recognized_text":"안방으로 가줘","device_id":"robot-nobody"}`, 404, "robot-nobody"},
		"broken JSON":    {"/v1/plans", s.Authorization(), `{"steps":[`, 400, "JSON"},
		"duplicate key":  {"/v1/plans", s.Authorization(), `{"steps":[],"steps":[],` + device + `}`, 422, "steps"},
		"too deep":       {"/v1/plans", s.Authorization(), strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100), 422, "deep"},
		"too long":       {"/v1/plans", s.Authorization(), `{"steps":[],"x":"` + strings.Repeat("x", 3<<20) + `"}`, 413, ""},
		"unknown room": {"/v1/plans", s.Authorization(), `{` + device + `,"steps":[{"id":"a","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"다락방"}}}]}`,
			422, "steps[0].action.arguments.position_name"},
		"many faults": {"/v1/plans", s.Authorization(), `{` + device + `,"steps":[{"id":"a/b","action":{"capability_id":"fly","operation_id":"start"}},{"id":"b","depends_on":["z"],"action":{"capability_id":"speak","operation_id":"x"}}]}`,
			422, "steps[1].depends_on[0]"},
	} {
		status, answer := s.Do(t, "POST", c.path, c.authorization, c.body)
		if status != c.status || !strings.Contains(string(answer), c.says) {
			t.Errorf("%s: %d %.300s; want %d, naming %q", name, status, answer, c.status, c.says)
		}
	}
	stack.Eventually(t, "the list of plans answers", func(context.Context) (bool, error) {
		status, answer := s.Get(t, "/v1/plans")
		if status == 200 && strings.Contains(string(answer), `"plan_id"`) {
			return false, fmt.Errorf("a plan was started: %s", answer)
		}
		return status == 200, fmt.Errorf("%d %s", status, answer)
	})
	wantEffects(t, r)
}
