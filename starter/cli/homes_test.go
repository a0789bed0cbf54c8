package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestHomesAndUsersOnTheCommandLine(t *testing.T) {
	var sent []string
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = append(sent, string(text))
			say(status, body)(w, r)
		}
	}
	fakeAPI(t, map[string]http.HandlerFunc{
		"POST /v1/homes":              answer(200, `{"home_id":"kim","voice":{"may_command":true,"may_hear":true}}`),
		"GET /v1/homes":               answer(200, `{"homes":[{"home_id":"home","voice":{"may_command":true,"may_confirm":true,"may_hear":true}},{"home_id":"kim","name":"김씨네","voice":{}}]}`),
		"POST /v1/users":              answer(201, `{"user_id":"mina","home_id":"kim","may_command":true,"token":"T0KEN"}`),
		"GET /v1/users":               answer(200, `{"users":[{"user_id":"mina","home_id":"kim","name":"미나","may_command":true,"may_confirm":true,"speaker_ids":["s-1"]},{"user_id":"joon","home_id":"kim","may_hear":true,"token_owner":"phone"}]}`),
		"POST /v1/users/mina/remove":  answer(200, `{"user_id":"mina","home_id":"kim"}`),
		"POST /v1/devices/robot/move": answer(200, `{"device_id":"d-1","home_id":"kim"}`),
	})
	for _, tt := range []struct {
		args, sent, printed string
	}{
		{"home add kim --name 김씨네", `{"home_id":"kim","name":"김씨네","voice":{"may_command":true,"may_confirm":false,"may_hear":true}}`,
			"home kim; a voice that nobody knows may there: command,hear\n"},
		{"home add kim --voice nothing", `{"home_id":"kim"}`, ""},
		{"home list", "", "HOME  UNKNOWN VOICES MAY    NAME\nhome  command,confirm,hear  -\nkim   -                     김씨네\n"},
		{"user add mina --home kim --may command --speaker s-1,s-2", `{"user_id":"mina","home_id":"kim","may_command":true,"may_confirm":false,"may_hear":false,"speaker_ids":["s-1","s-2"]}`,
			"user mina of home kim may: command\ntoken T0KEN\n"},
		{"user add mina --home kim --may hear,confirm --owner phone", `{"user_id":"mina","home_id":"kim","may_command":false,"may_confirm":true,"may_hear":true,"token_owner":"phone"}`, ""},
		{"user list --home kim", "", "mina  kim   command,confirm  s-1       own       미나\njoon  kim   hear             -         of phone  -\n"},
		{"user remove mina", "", "user mina of home kim is removed\n"},
		{"device move robot kim", `{"home_id":"kim"}`, "d-1 is in home kim\n"},
	} {
		sent = nil
		code, stdout, stderr := errand(t, strings.Fields(tt.args)...)
		if code != 0 || !strings.Contains(stdout, tt.printed) || len(sent) != 1 || sent[0] != tt.sent {
			t.Errorf("errand %s: exit %d, sent %q, want %q; printed\n%s%s", tt.args, code, sent, tt.sent, stdout, stderr)
		}
	}
	sent = nil
	for _, args := range []string{"user add mina --home kim --may dance", "home add kim --voice shout", "user add mina --home kim"} {
		if code, _, stderr := errand(t, strings.Fields(args)...); code != exitInput || len(sent) != 0 {
			t.Errorf("errand %s: exit %d, sent %q: %s", args, code, sent, stderr)
		}
	}
}
