package tests

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// httpDevice speaks HTTP alone: it asks for commands, answers them, and posts its events.
type httpDevice struct {
	t     *testing.T
	base  string
	id    string
	token string
	seq   int

	moved []string // operations in the order in which it carried them out
}

// A device that holds no socket carries out a plan: each step once, the first one's result bound into the second.
func TestADeviceThatSpeaksOnlyHTTPCarriesOutAPlan(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	d := &httpDevice{t: t, base: "http://" + strings.TrimPrefix(strings.TrimSuffix(s.Gateway, "/"), "ws://")}
	d.connect(stack.NewKey(t))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.live(ctx) }()
	p := s.SubmitTo(t, d.id, `{"steps":[
		{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"arrival"},
		{"id":"purify","action":{"capability_id":"stationary_purify","operation_id":"start"},"depends_on":["move"],"input_from":{"area_id":"arrival.result.area_id"}}]}`)
	wantOutcome(t, p, plan.Completed, "completed")
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the device: %v", err)
	}
	if got, want := strings.Join(d.moved, " "), p.ID+"/move/1 "+p.ID+"/purify/1"; got != want {
		t.Errorf("Law11: it carried out %s, want %s", got, want)
	}
}

// connect pairs the device; the stack's gateway approves whoever knows its token.
func (d *httpDevice) connect(key ed25519.PrivateKey) {
	d.t.Helper()
	var ch wire.Challenge
	var in struct {
		DeviceID    string `json:"device_id"`
		DeviceToken string `json:"device_token"`
	}
	c := stack.Declared()
	if err := d.call(d.t.Context(), http.MethodPost, "/v1/challenge", nil, &ch); err != nil {
		d.t.Fatal(err)
	}
	wire.Sign(key, &c, ch)
	if err := d.call(d.t.Context(), http.MethodPost, "/v1/connect", c, &in); err != nil {
		d.t.Fatal(err)
	}
	d.id, d.token = in.DeviceID, in.DeviceToken
}

// live asks for commands and answers them until ctx ends.
func (d *httpDevice) live(ctx context.Context) error {
	for {
		var got wire.Requests
		err := d.call(ctx, http.MethodGet, "/v1/devices/"+d.id+"/requests?wait=10s", nil, &got)
		for _, q := range append(got.Tasks, got.Others...) {
			err = errors.Join(err, d.carryOut(ctx, q))
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the test is over, and cut the request off
		}
		if err != nil {
			return err
		}
	}
}

func (d *httpDevice) carryOut(ctx context.Context, q wire.Request) error {
	payload := any(map[string]any{})
	var task wire.Task
	if q.Command == wire.CommandSubmitTask {
		var err error
		if task, err = wire.ParseTask(q.Params); err != nil {
			return err
		}
		payload = wire.SubmitAnswer{Accepted: true, TaskID: task.OperationID, TaskMethod: task.TaskMethod, StoreID: "store-1"}
	}
	err := d.call(ctx, http.MethodPost, "/v1/devices/"+d.id+"/responses", map[string]any{"request_id": q.RequestID, "ok": true, "payload": payload}, nil)
	if err != nil || task.OperationID == "" {
		return err
	}
	d.moved = append(d.moved, task.OperationID)
	return d.tell(ctx, task, wire.TaskStarted, wire.TaskCompleted)
}

// tell posts the events of a task as one ordered batch, and wants each applied.
func (d *httpDevice) tell(ctx context.Context, task wire.Task, names ...string) error {
	var events []wire.TaskEvent
	for _, name := range names {
		d.seq++
		e := wire.TaskEvent{Envelope: wire.Envelope{EventID: fmt.Sprint("b1-", d.seq), BootID: "b1", Seq: int64(d.seq)}, EventName: name,
			TaskID: task.OperationID, TaskMethod: task.TaskMethod, Trace: task.Trace}
		if name == wire.TaskCompleted {
			e.Result = map[string]any{"area_id": "6"}
		}
		events = append(events, e)
	}
	var answer struct {
		Acks []wire.EventAck `json:"acks"`
	}
	err := d.call(ctx, http.MethodPost, "/v1/task-events", map[string]any{"errand": stack.Declared().Errand, "events": events}, &answer)
	for _, ack := range answer.Acks {
		if ack.Ack != wire.AckApplied {
			err = errors.Join(err, fmt.Errorf("%s is acknowledged as %s %s", ack.EventID, ack.Ack, ack.Reason))
		}
	}
	return err
}

func (d *httpDevice) call(ctx context.Context, method, path string, body, into any) (err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// The example of docs/http-devices.md is run as it is written.
func TestTheExampleInCurlCarriesOutAPlan(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "openssl", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the example needs %s, which is not here", tool)
		}
	}
	s := stack.Start(t)
	script, err := filepath.Abs("../docs/http-device.sh")
	if err != nil {
		t.Fatal(err)
	}
	var out lockedBuffer
	cmd := exec.CommandContext(t.Context(), "sh", script, "1")
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), "ERRAND_GATEWAY_HTTP=http://"+strings.TrimPrefix(s.Gateway, "ws://"), s.TokenEnv())
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var id string
	stack.Eventually(t, "the device says that it is ready", func(context.Context) (bool, error) {
		_, rest, ready := strings.Cut(out.String(), "http-device ready: ")
		id, _, _ = strings.Cut(rest, "\n")
		return ready && len(id) == 64, fmt.Errorf("it printed %s", out.String())
	})
	p := s.SubmitTo(t, id, moveOnly)
	wantOutcome(t, p, plan.Completed, "completed")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the script: %v\n%s", err, out.String())
	}
}

// lockedBuffer keeps what is printed while it is read.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
