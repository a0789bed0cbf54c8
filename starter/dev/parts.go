package dev

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"errand/plan"
)

// programs is where the programs are.
type programs struct{ dir string }

// find returns a program's path, or says how to make it.
func (p programs) find(name, target string) (string, error) {
	path := filepath.Join(p.dir, name)
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("the program %s is not there: make it with `make %s`, or set ERRAND_BIN to the folder it is in", path, target)
	}
	return path, nil
}

// settings is what the parts are told.
type settings struct {
	ports    Ports
	state    *state
	programs programs
	// token is for people and programs that command; deviceToken lets devices in, and commands nothing.
	token, deviceToken string
	uiURL              string
	model              []string // what the worker is told of the language model, on top of the environment
	base               []string // the environment all parts share
}

// temporalPart is the Temporal server to start: the temporal CLI if there is one, else our own.
func (s settings) temporalPart() (Part, error) {
	database, path := s.state.path("temporal-cli.db"), ""
	if cli, err := exec.LookPath("temporal"); err == nil {
		path = cli
	} else {
		// A folder: the file in it is named after the server's version, since there is no migration between two.
		database = s.state.path("temporal")
		if err := os.MkdirAll(database, 0o700); err != nil {
			return Part{}, fmt.Errorf("the database's folder cannot be made: %w", err)
		}
		if path, err = s.programs.find("temporal-dev", "temporal"); err != nil {
			return Part{}, err
		}
	}
	args := []string{"server", "start-dev", "--ip", host, "--port", fmt.Sprint(s.ports.Temporal),
		"--ui-port", fmt.Sprint(s.ports.UI), "--namespace", "default", "--db-filename", database, "--log-level", "error"}
	for _, name := range plan.SearchAttributes() {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	return Part{Name: "temporal", What: "Temporal and its UI (" + filepath.Base(path) + ")", Path: path, Args: args,
		Env: s.base, Within: 90 * time.Second,
		Ready: func(line string) bool { // ours, or the CLI's
			return strings.HasPrefix(line, "Temporal ready:") || strings.HasPrefix(strings.TrimSpace(line), "Server:") ||
				strings.HasPrefix(line, "Temporal Server:")
		}}, nil
}

// ourParts are the programs of Errand, in the order in which they start.
func (s settings) ourParts() ([]Part, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program errand itself: %w", err)
	}
	var parts []Part
	add := func(name, what, path string, args []string, env ...string) {
		parts = append(parts, Part{Name: name, What: what, Path: path, Args: args, Env: append(s.base[:len(s.base):len(s.base)], env...),
			Within: 30 * time.Second, Ready: func(line string) bool { return strings.HasPrefix(line, name+" ready:") }})
	}
	paths := map[string]string{}
	for _, name := range []string{"worker", "gateway", "robot"} {
		if paths[name], err = s.programs.find(name, "build"); err != nil {
			return nil, err
		}
	}
	add("worker", "the worker", paths["worker"], nil, s.model...)
	add("gateway", "the devices' gateway", paths["gateway"], nil, append(s.whichModel(), "ERRAND_GATEWAY_LISTEN="+address(s.ports.Gateway),
		"ERRAND_TOKEN="+s.deviceToken, "ERRAND_AUTO_APPROVE=true", "ERRAND_FORWARD_STARTED=true", "ERRAND_GATEWAY_TLS=off")...)
	add("api", "the HTTP API", self, []string{"serve"}, append(s.whichModel(), "ERRAND_API_LISTEN="+address(s.ports.API), "ERRAND_TOKEN="+s.token,
		"ERRAND_GATEWAY_URL=ws://"+address(s.ports.Gateway)+"/")...)
	add("robot", "a simulated robot", paths["robot"], nil, "ERRAND_GATEWAY_URL=ws://"+address(s.ports.Gateway)+"/",
		"ERRAND_TOKEN="+s.deviceToken, "ERRAND_ROBOT_STATE="+s.state.path("robot"))
	return parts, nil
}

// whichModel is what those are told who start plans: that there is a model to decide at their boundaries, and no key of it.
func (s settings) whichModel() (env []string) {
	for _, pair := range s.model {
		if strings.HasPrefix(pair, "ERRAND_LLM=") {
			env = append(env, pair)
		}
	}
	return env
}

// environment is the parts' common one: the person's own, with what we decide on top.
func environment(own []string, set map[string]string, drop func(name string) bool) []string {
	var env []string
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		if _, ours := set[name]; !ours && !drop(name) {
			env = append(env, pair)
		}
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}
