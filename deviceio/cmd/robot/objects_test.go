package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// A person looks at what the robot knows, changes it by hand, and the ledger keeps that apart from what operations did.
func TestObjectsAndHand(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ERRAND_ROBOT_STATE", dir)
	t.Setenv("ERRAND_ROBOT_CONTROL", "127.0.0.1:0")
	t.Setenv("ERRAND_GATEWAY_URL", "ws://127.0.0.1:1/")
	if code, _, errs := call(t.Context(), "objects"); code != 1 || !strings.Contains(errs, "no robot with a control API") {
		t.Errorf("%d %q", code, errs)
	}
	ctx, stop := context.WithCancel(t.Context())
	lives := make(chan struct{})
	var once bool
	out := &watched{want: "robot is not connected", found: func() {
		if !once {
			once = true
			close(lives)
		}
	}}
	ended := make(chan int)
	var stderr bytes.Buffer
	go func() { ended <- run(ctx, nil, out, &stderr) }()
	defer func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("the robot ended with %d: %s", code, stderr.String())
		}
	}()
	select {
	case <-lives:
	case <-t.Context().Done():
		t.Fatal("the robot never lived")
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"objects"}, 0, "alarm-1"},
		{[]string{"hand", "add", "alarm", "time=06:30", "label=산책"}, 0, "new-1"},
		{[]string{"hand", "change", "door", "door-1", "open=true"}, 0, "door-1"},
		{[]string{"hand", "remove", "alarm", "alarm-1"}, 0, "alarm-1"},
		{[]string{"objects"}, 0, "06:30 산책"},
		{[]string{"ledger"}, 0, "alarm_removed"},
		{[]string{"hand", "remove", "alarm", "alarm-1"}, 1, `there is no alarm "alarm-1"`},
		{[]string{"hand", "change", "door", "door-1", "locked=true"}, 1, "cannot be locked"},
		{[]string{"hand", "change", "door", "door-1", "door-2"}, 1, "want one id"},
		{[]string{"hand", "break", "door", "door-1"}, 2, "add"},
	} {
		code, out, errs := call(t.Context(), c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: %d %q %q, want %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
}
