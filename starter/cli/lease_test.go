package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/starter/api"
)

const quarantinedDevice = `{"device_id":"d-1","home_id":"kim","display_name":"로봇","state":"approved","online":false,"last_seen_at":"2026-11-30T12:00:00Z",
	"rooms":[{"id":"6","name":"안방"},{"id":"1","name":"거실"}],
	"lease":{"device_id":"d-1","state":"quarantined",
	 "queue":[{"plan_id":"p-2","since":1796040005000,"policy":"queue","priority":0,"by":"kim"}],
	 "quarantine":{"plan_id":"p-1","why":"plan p-1 ended, and nobody could tell how an operation of it ended","since":1796040000000,
	  "operations":[{"operation_id":"p-1/move/1","plan_id":"p-1","why":"its plan ended without knowing how it ended","since":1796040000000,"asked":2}],
	  "waits_for":"the device to connect, or a person to forget it"},
	 "forgotten":[{"by":"lee","why":"it \u001b[2Jstood","at":1796039000000,"plan_id":"p-0","operations":["p-0/move/1"]}]}}`

func TestADeviceIsShownWithWhoseTurnItIs(t *testing.T) {
	var device api.DeviceAnswer
	if err := json.Unmarshal([]byte(quarantinedDevice), &device); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printDevice(&out, device, time.UTC)
	const want = `device     로봇 d-1
state      approved, offline, last seen Nov 30, 12:00:00 UTC
home       kim
commands   -
rooms      안방, 거실
lease      quarantined
why        plan p-1 ended, and nobody could tell how an operation of it ended, since Nov 30, 12:00:00 UTC
waits for  the device to connect, or a person to forget it

TURN  PLAN  SINCE                 POLICY  PRIORITY  BY
1     p-2   Nov 30, 12:00:05 UTC  queue   0         kim

MAY STILL MOVE IT  WHY                                          SINCE                 ITS CANCEL  ASKED
p-1/move/1         its plan ended without knowing how it ended  Nov 30, 12:00:00 UTC  -           2

forgotten by lee, Nov 30, 11:43:20 UTC: it ` + "\ufffd" + `[2Jstood (p-0/move/1)
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDeviceShowAsJSONAndWithoutALease(t *testing.T) {
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/devices/d-1": say(200, quarantinedDevice),
		"GET /v1/devices/d-2": say(200, `{"device_id":"d-2","state":"approved","rooms":[],"lease_unknown":"no worker answers"}`),
	})
	code, stdout, stderr := errand(t, "device", "show", "d-1", "--json")
	var device api.DeviceAnswer
	if err := json.Unmarshal([]byte(stdout), &device); err != nil || code != 0 || device.Lease.Quarantine.PlanID != "p-1" {
		t.Errorf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if code, stdout, _ := errand(t, "device", "show", "d-2"); code != 0 || !strings.Contains(stdout, "lease      unknown: no worker answers\n") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

func TestForgetSaysWhyAndPrintsTheLease(t *testing.T) {
	var sent string
	fakeAPI(t, map[string]http.HandlerFunc{
		"POST /v1/devices/d-1/forget": func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = string(body)
			say(200, `{"device_id":"d-1","state":"held","holder":{"plan_id":"p-2","since":1,"policy":"queue","priority":0},"queue":[]}`)(w, r)
		},
		"POST /v1/devices/d-2/forget": say(409, `{"status":409,"code":"not_quarantined","detail":"there is nothing to forget"}`),
	})
	code, stdout, stderr := errand(t, "device", "forget", "d-1", "--why", "it is in the workshop", "--by", "Kim")
	if code != 0 || sent != `{"why":"it is in the workshop","by":"Kim"}` || !strings.Contains(stdout, "lease      held\n") || !strings.Contains(stdout, "p-2") {
		t.Errorf("exit %d, sent %s: %s%s", code, sent, stdout, stderr)
	}
	if code, _, stderr := errand(t, "device", "forget", "d-2", "--why", "x"); code != 2 || !strings.Contains(stderr, "nothing to forget") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := errand(t, "device", "forget", "d-1"); code != 2 || !strings.Contains(stderr, "--why") {
		t.Errorf("without a reason: exit %d: %s", code, stderr)
	}
}
