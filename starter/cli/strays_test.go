package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/starter/api"
)

const strayPage = `{"device_id":"d-1","events":[
	{"event_id":"b1-5","event_name":"COMPLETED","operation_id":"p-1/move/1","ack":"late","reason":"plan p-1 is over",
	 "received_at":"2026-11-30T12:00:03Z","boot_id":"b1","seq":5,"epoch":2,"body":{"event_name":"COMPLETED"}},
	{"ack":"refused","reason":"it is \u001b[2Jnot JSON","received_at":"2026-11-30T11:59:58Z","body":{"_bytes":7}}],
	"next":"bmV4dA"}`

func TestStraysAreALineEach(t *testing.T) {
	var list api.StrayList
	if err := json.Unmarshal([]byte(strayPage), &list); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printStrays(&out, list, "robot", time.UTC); err != nil {
		t.Fatal(err)
	}
	const want = `RECEIVED             ACK      EVENT      ID    OPERATION   REASON
2026-11-30 12:00:03  late     COMPLETED  b1-5  p-1/move/1  plan p-1 is over
2026-11-30 11:59:58  refused  -          -     -           it is ` + "\ufffd" + `[2Jnot JSON
older: errand device strays robot --page bmV4dA
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStraysOfTheOnlyDevice(t *testing.T) {
	var asked []string
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/devices": say(200, `{"devices":[{"device_id":"d-1"}]}`),
		"GET /v1/devices/d-1/strays": func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RawQuery)
			say(200, strayPage)(w, r)
		},
	})
	code, stdout, stderr := errand(t, "device", "strays")
	if code != 0 || !strings.Contains(stdout, "older: errand device strays d-1 --page bmV4dA\n") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = errand(t, "device", "strays", "d-1", "--size", "2", "--page", "bmV4dA", "--json")
	var list api.StrayList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 || len(list.Events) != 2 || list.Next != "bmV4dA" {
		t.Errorf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if strings.Join(asked, " ") != "size=50 page=bmV4dA&size=2" {
		t.Errorf("asked for %q", asked)
	}
}

func TestStraysNeedADeviceAndSayIfThereAreNone(t *testing.T) {
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/devices":            say(200, `{"devices":[{"device_id":"d-1"},{"device_id":"d-2"}]}`),
		"GET /v1/devices/d-2/strays": say(200, `{"device_id":"d-2","events":[]}`),
	})
	if code, _, stderr := errand(t, "device", "strays"); code != 2 || !strings.Contains(stderr, "there are 2 devices: name one") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, stdout, _ := errand(t, "device", "strays", "d-2"); code != 0 || stdout != "no stray events of d-2\n" {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
