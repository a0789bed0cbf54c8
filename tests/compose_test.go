package tests

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"

	"errand/internal/config"
	"errand/plan"
)

// secrets is what a person must set before anything starts.
var secrets = map[string]string{
	"ERRAND_TOKEN":        "a-token-of-the-api-for-this-test",
	"ERRAND_DEVICE_TOKEN": "a-token-of-devices-for-this-test",
	"POSTGRES_PASSWORD":   "a-password-for-this-test",
}

// compose loads the compose file as docker compose does, with every profile, and with nothing else in the environment.
func compose(ctx context.Context, environment map[string]string) (*types.Project, error) {
	var set []string
	for name, value := range environment {
		set = append(set, name+"="+value)
	}
	options, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithEnv(set), cli.WithProfiles([]string{"*"}))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(ctx)
}

func composed(t *testing.T) *types.Project {
	t.Helper()
	project, err := compose(t.Context(), secrets)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeIsRefusedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	for missing := range secrets {
		others := map[string]string{missing: ""}
		for name, value := range secrets {
			if name != missing {
				others[name] = value
			}
		}
		_, err := compose(t.Context(), others)
		if err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "openssl rand -hex 32") {
			t.Errorf("without %s: %v; want an error that names it and says what to do", missing, err)
		}
	}
}

func TestComposeHasNoSecretOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, s := range composed(t).Services {
		for name, value := range s.Environment {
			if regexp.MustCompile(`TOKEN|PASSWORD|PWD|SECRET|KEY`).MatchString(name) && *value != "" && !slices.Contains(mapValues(secrets), *value) {
				t.Errorf("%s: %s is %q, which is not from the environment", s.Name, name, *value)
			}
		}
	}
}

// The key of a language model is the environment's, if there is one, and the worker's alone.
func TestComposeTellsAModelsKeyToTheWorkerAlone(t *testing.T) {
	t.Parallel()
	set := map[string]string{"ERRAND_LLM": "gemini", "ERRAND_LLM_KEY": "the key"}
	maps.Copy(set, secrets)
	project, err := compose(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range project.Services {
		key := s.Environment["ERRAND_LLM_KEY"]
		if told := key != nil && *key == "the key"; told != (s.Name == "worker") {
			t.Errorf("%s: told the key %v", s.Name, told)
		}
	}
}

func mapValues(m map[string]string) (values []string) {
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

// What is published is this machine's own; what is mounted, depended on and waited for is there.
func TestComposeIsOneWhole(t *testing.T) {
	t.Parallel()
	project := composed(t)
	used := map[string]bool{}
	for _, s := range project.Services {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" || p.Published == "" {
				t.Errorf("%s: port %d is published on %q:%q, want 127.0.0.1 and a fixed port", s.Name, p.Target, p.HostIP, p.Published)
			}
		}
		for _, v := range s.Volumes {
			if _, known := project.Volumes[v.Source]; v.Type != types.VolumeTypeVolume || !known {
				t.Errorf("%s: %s is mounted from %q, which is no named volume", s.Name, v.Target, v.Source)
			}
			used[v.Source] = true
		}
		for name, d := range s.DependsOn {
			waitable(t, s.Name, project.Services[name], name, d.Condition)
		}
	}
	for name := range project.Volumes {
		if !used[name] {
			t.Errorf("nothing uses the volume %s", name)
		}
	}
	for _, name := range []string{"gateway", "starter"} {
		s := project.Services[name]
		if len(s.Volumes) != 1 || s.Volumes[0].Source != "registry" || *s.Environment["ERRAND_REGISTRY"] != path.Join(s.Volumes[0].Target, "registry.db") {
			t.Errorf("%s has its registry at %v, mounted %+v; want both on the one volume", name, *s.Environment["ERRAND_REGISTRY"], s.Volumes)
		}
	}
}

// waitable checks that what a service waits for can come about.
func waitable(t *testing.T, service string, other types.ServiceConfig, name, condition string) {
	t.Helper()
	switch {
	case other.Name != name:
		t.Errorf("%s depends on %s, which is not there", service, name)
	case condition == types.ServiceConditionHealthy && (other.HealthCheck == nil || len(other.HealthCheck.Test) < 2):
		t.Errorf("%s waits until %s is healthy, and it has no health check", service, name)
	case condition == types.ServiceConditionCompletedSuccessfully && !strings.HasPrefix(other.Restart, "on-failure"):
		t.Errorf("%s waits until %s has ended, and it is started again always (%q)", service, name, other.Restart)
	case condition == types.ServiceConditionStarted:
		t.Errorf("%s waits only until %s was started", service, name)
	}
}

// Images of Temporal are of the versions that the tests run against.
func TestComposeHasTheTestedTemporal(t *testing.T) {
	t.Parallel()
	text := read(t, "../devserver/go.mod")
	version := func(module string) string {
		found := regexp.MustCompile(regexp.QuoteMeta(module) + ` v(\S+)`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("devserver/go.mod has no %s", module)
		}
		return found[1]
	}
	server := version("go.temporal.io/server")
	for service, want := range map[string]string{
		"temporal": "temporalio/server:" + server, "temporal-schema": "temporalio/admin-tools:" + server,
		"temporal-namespace": "temporalio/admin-tools:" + server, "temporal-ui": "temporalio/ui:" + version("github.com/temporalio/ui-server/v2"),
	} {
		if got := composed(t).Services[service].Image; got != want {
			t.Errorf("%s is of image %q, want %q", service, got, want)
		}
	}
}

// Each variable is one that the program reads: a name mistyped would leave its default in force and say nothing.
func TestComposeSetsOnlyWhatTheProgramsRead(t *testing.T) {
	t.Parallel()
	robotSettings, err := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("ERRAND_TEST_BIN"), "robot"), "config").Output()
	if err != nil {
		t.Fatalf("robot config: %v (ERRAND_TEST_BIN is %q: run `make test`)", err, os.Getenv("ERRAND_TEST_BIN"))
	}
	known := map[string][]string{
		"worker":  names(config.Settings(new(config.Worker))),
		"gateway": names(config.Settings(new(config.Gateway))),
		"starter": names(config.Settings(new(config.API))),
		"robot":   regexp.MustCompile(`ERRAND_[A-Z_]+`).FindAllString(string(robotSettings), -1),
	}
	for _, s := range composed(t).Services {
		if (s.Build != nil) != (known[s.Name] != nil) {
			t.Errorf("%s: this test knows no settings of it, or it is not built here", s.Name)
		}
		for name := range s.Environment {
			if strings.HasPrefix(name, "ERRAND_") && !slices.Contains(known[s.Name], name) {
				t.Errorf("%s does not read %s", s.Name, name)
			}
			if s.Build != nil && strings.HasPrefix(name, "TEMPORAL_") && !slices.Contains(names(config.Temporal()), name) {
				t.Errorf("%s: the Temporal client does not read %s", s.Name, name)
			}
		}
	}
}

func names(settings []config.Setting) (list []string) {
	for _, s := range settings {
		list = append(list, s.Name)
	}
	return list
}

func TestComposeMakesTheSearchAttributes(t *testing.T) {
	t.Parallel()
	script := fmt.Sprint(composed(t).Services["temporal-namespace"].Command)
	for _, name := range plan.SearchAttributes() {
		if !strings.Contains(script, "--name "+name+" --type Keyword") {
			t.Errorf("the search attribute %s is not made", name)
		}
	}
}
