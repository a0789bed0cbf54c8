package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"

	"errand/tests/stack"
)

// The commands of the compose file, with its arguments and its environment, on a real Temporal server: only addresses and
// folders are this machine's. Each becomes ready, its health check says so, and a robot that was let in does what it is told.
func TestComposeCommandsRun(t *testing.T) {
	t.Parallel()
	project, dir := composed(t), t.TempDir()
	address := stack.TemporalServer(t, dir)
	api, gateway := fmt.Sprintf("127.0.0.1:%d", stack.FreePort(t)), fmt.Sprintf("127.0.0.1:%d", stack.FreePort(t))
	here := strings.NewReplacer("temporal:7233", address, "0.0.0.0:7410", api, "0.0.0.0:7420", gateway, "gateway:7420", gateway, "127.0.0.1:7420", gateway)

	client := []string{"ERRAND_TOKEN=" + *project.Services["starter"].Environment["ERRAND_TOKEN"], "ERRAND_API=http://" + api}
	for _, service := range []string{"worker", "gateway", "starter"} {
		s := project.Services[service]
		env := environment(s, here, dir)
		program(t, s, dir, env).Start(t)
		if s.HealthCheck != nil {
			run(t, append(env, client[1]), healthCheck(t, s, here)...)
		}
	}
	device := program(t, project.Services["robot"], dir, environment(project.Services["robot"], here, dir))
	device.StartUnready(t)
	stack.Eventually(t, "the robot waits to be let in", func(context.Context) (bool, error) {
		return strings.Contains(run(t, client, "errand", "device", "list"), "pending"), nil
	})
	run(t, client, "errand", "device", "approve", "errand-robot")
	device.AwaitReady(t)
	if output := run(t, client, "errand", "run", "안방으로 가줘"); !strings.Contains(output, "outcome    completed") {
		t.Errorf("the plan's outcome:\n%s", output)
	}
}

// program prepares a service's command.
func program(t *testing.T, s types.ServiceConfig, dir string, env []string) *stack.Process {
	t.Helper()
	name := s.Command[0]
	if name == "errand" {
		name = "api" // as errand serve calls itself
	}
	return stack.Program(t, filepath.Join(dir, s.Name), name, s.Command[0], s.Command[1:], append(env, "TEMPORAL_CONFIG_FILE="+os.DevNull))
}

// healthCheck is a service's health check, which must need no shell.
func healthCheck(t *testing.T, s types.ServiceConfig, here *strings.Replacer) []string {
	t.Helper()
	if s.HealthCheck.Test[0] != "CMD" {
		t.Fatalf("%s: the health check %v needs a shell", s.Name, s.HealthCheck.Test)
	}
	var command []string
	for _, word := range s.HealthCheck.Test[1:] {
		command = append(command, here.Replace(word))
	}
	return command
}

// environment is a service's, with this machine's addresses, and a folder of dir for each named volume.
func environment(s types.ServiceConfig, here *strings.Replacer, dir string) (env []string) {
	for name, value := range s.Environment {
		set := here.Replace(*value)
		for _, v := range s.Volumes {
			set = strings.Replace(set, v.Target, filepath.Join(dir, "volume-"+v.Source), 1)
		}
		env = append(env, name+"="+set)
	}
	return env
}

// run runs one of the programs under test to its end, and returns what it printed.
func run(t *testing.T, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("ERRAND_TEST_BIN"), command[0]), command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return string(output)
}

// The two services that prepare Temporal run their scripts in a real shell, with tools that write down how they were
// called. A tool that fails at first is called again, and one that never succeeds fails the service.
func TestComposePreparesTemporal(t *testing.T) {
	t.Parallel()
	const namespace = "operator namespace"
	for name, c := range map[string]struct {
		service, fails string
		calls          []string
		status         int
	}{
		"schema": {"temporal-schema", "", []string{
			"--db temporal create-database", "--db temporal setup-schema -v 0.0", "--db temporal update-schema --schema-name postgresql/v12/temporal",
			"--db temporal_visibility create-database", "--db temporal_visibility setup-schema -v 0.0",
			"--db temporal_visibility update-schema --schema-name postgresql/v12/visibility"}, 0},
		"schema fails":  {"temporal-schema", `*setup-schema*`, []string{"--db temporal create-database", "--db temporal setup-schema -v 0.0"}, 1},
		"new namespace": {"temporal-namespace", namespace + " describe*", []string{"operator cluster health", namespace + " describe --namespace default", namespace + " create --namespace default --retention 720h", "operator search-attribute create"}, 0},
		"known namespace": {"temporal-namespace", "", []string{"operator cluster health", namespace + " describe --namespace default",
			"operator search-attribute create"}, 0},
		"never healthy": {"temporal-namespace", "operator cluster health*", slices.Repeat([]string{"operator cluster health"}, 30), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := composed(t).Services[c.service]
			calls, status := rehearse(t, s, c.fails)
			for i := range calls {
				if strings.HasPrefix(calls[i], "operator search-attribute create") {
					calls[i] = "operator search-attribute create" // TestComposeMakesTheSearchAttributes
				}
			}
			if status != c.status || !slices.Equal(calls, c.calls) {
				t.Errorf("exit %d after\n  %s\nwant exit %d after\n  %s", status, strings.Join(calls, "\n  "), c.status, strings.Join(c.calls, "\n  "))
			}
		})
	}
}

// rehearse runs a service's command with stand-ins for the tools of its image; those called with what matches fails fail.
func rehearse(t *testing.T, s types.ServiceConfig, fails string) (calls []string, status int) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	stand := "#!/bin/sh\necho \"$*\" >>'" + log + "'\ncase \"$*\" in " + strings.ReplaceAll(fails, " ", "\\ ") + ") exit 1;; esac\n"
	if fails == "" {
		stand = "#!/bin/sh\necho \"$*\" >>'" + log + "'\n"
	}
	for tool, text := range map[string]string{"temporal": stand, "temporal-sql-tool": stand, "sleep": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), s.Command[0], s.Command[1:]...)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	for name, value := range s.Environment {
		cmd.Env = append(cmd.Env, name+"="+*value)
	}
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %s", err, output)
	}
	return strings.Split(strings.TrimSpace(read(t, log)), "\n"), cmd.ProcessState.ExitCode()
}
