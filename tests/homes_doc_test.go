package tests

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"errand/tests/stack"
)

// docs/homes.md, its commands as they are written: each must succeed, in one shell, from its first line to its last.
func TestHomesAsThePageSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/homes.md")
	if err != nil {
		t.Fatal(err)
	}
	script := bytes.NewBufferString("set -euo pipefail\n")
	blocks := shellBlocks.FindAllSubmatch(page, -1)
	for _, b := range blocks {
		script.Write(b[1])
	}
	if len(blocks) < 4 {
		t.Fatalf("%d blocks of commands in the page", len(blocks))
	}
	s := stack.Start(t)
	r := s.Robot(t)
	ctx, cancel := context.WithTimeout(t.Context(), stack.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ERRAND_API="+s.API, "ERRAND_TOKEN="+strings.TrimPrefix(s.Authorization(), "Bearer "),
		"PATH="+os.Getenv("ERRAND_TEST_BIN")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`joon may not command what is of home "kim"; who may: mina`, "joon may only confirm and hear", "outcome    completed",
		`mina may not confirm what is of home "kim"; who may: joon`, "mina may not confirm: the question stays open", "NOT_CONFIRMED", "not unlocked: joon said no"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands did not print %q:\n%s", want, out)
		}
	}
	wantEffects(t, r)
}
