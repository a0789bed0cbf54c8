package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"errand/deviceio/registry"
	"errand/starter/api"
)

func TestARemovedUsersTokenIsVoid(t *testing.T) {
	s := newStreet(t)
	var removed registry.User
	s.ask("POST", "/v1/users/mina/remove", "").into(t, &removed)
	if removed.ID != "mina" {
		t.Errorf("removed %+v", removed)
	}
	if got := s.askAs(s.tokens["mina"], "GET", "/v1/plans/p-2", ""); got.status != http.StatusUnauthorized {
		t.Errorf("answered %d", got.status)
	}
	if p := s.ask("POST", "/v1/users/mina/remove", "").problem(t); p.Status != 404 || p.Code != "unknown_user" {
		t.Errorf("%+v", p)
	}
}

// A configured token's owner is an operator until a user of a home goes by it.
func TestAConfiguredTokenCanBeAUsers(t *testing.T) {
	s := newStreet(t)
	const phone = "the-token-of-a-phone-of-someone"
	a, err := api.New(api.Parts{Plans: s.plans, Registry: s.registry, Catalog: s.api.Catalog, Now: s.clock, GatewayURL: "ws://house/",
		Tokens: []api.Token{{Owner: "tester", Secret: secret}, {Owner: "phone", Secret: phone}}})
	if err != nil {
		t.Fatal(err)
	}
	s.api = a
	if got := s.askAs(phone, "GET", "/v1/homes", ""); got.status != 200 {
		t.Errorf("before: %d", got.status)
	}
	for name, tt := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"their own token": {`{"user_id":"tester","home_id":"kim","may_hear":true,"token_owner":"tester"}`, 409, "own_token"},
		"nobody's token":  {`{"user_id":"yuna","home_id":"kim","may_hear":true,"token_owner":"nobody"}`, 422, "invalid_document"},
		"an owner's name": {`{"user_id":"phone","home_id":"kim","may_hear":true}`, 409, "user_taken"},
		"another's id":    {`{"user_id":"mina","home_id":"kim","may_hear":true}`, 409, "user_taken"},
		"no right":        {`{"user_id":"yuna","home_id":"kim"}`, 422, "invalid_document"},
		"no home":         {`{"user_id":"yuna","home_id":"park","may_hear":true}`, 404, "unknown_home"},
		"no id":           {`{"user_id":"Yu na","home_id":"kim","may_hear":true}`, 422, "invalid_document"},
	} {
		if got := s.ask("POST", "/v1/users", tt.body); got.status != tt.status || got.problem(t).Code != tt.code {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	var made api.NewUser
	s.ask("POST", "/v1/users", `{"user_id":"phone","home_id":"kim","may_command":true,"token_owner":"phone"}`).into(t, &made)
	if made.Token != "" || made.ID != "phone" || !made.Command {
		t.Errorf("made %+v", made)
	}
	for path, want := range map[string]int{"/v1/homes": 403, "/v1/plans/p-1": 403, "/v1/catalog": 200} {
		if got := s.askAs(phone, "GET", path, ""); got.status != want {
			t.Errorf("after, %s: %d", path, got.status)
		}
	}
	if got := s.askAs(phone, "POST", "/v1/plans/p-2/cancel", ""); got.status != 202 {
		t.Errorf("as a user: %d %s", got.status, got.text)
	}
}

func TestAUsersTokenIsShownOnceAndWorks(t *testing.T) {
	s := newStreet(t)
	got := s.ask("POST", "/v1/users", `{"user_id":"yuna","home_id":"kim","name":"유나","may_hear":true,"speaker_ids":["s-1"]}`)
	var made api.NewUser
	got.into(t, &made)
	if got.status != http.StatusCreated || made.Token == "" || made.Name != "유나" || !slices.Equal(made.Speakers, []string{"s-1"}) || made.CreatedAt.IsZero() {
		t.Errorf("%d %+v", got.status, made)
	}
	if again := s.askAs(made.Token, "GET", "/v1/plans/p-2", ""); again.status != 200 {
		t.Errorf("with the token: %d", again.status)
	}
	var list api.UserList
	listed := s.ask("GET", "/v1/users?home=kim", "")
	listed.into(t, &list)
	if len(list.Users) != 4 || strings.Contains(listed.text, made.Token) {
		t.Errorf("%s", listed.text)
	}
	var homes api.HomeList
	s.ask("POST", "/v1/homes", `{"home_id":"kim","name":"김씨네","voice":{"may_hear":true}}`)
	s.ask("GET", "/v1/homes", "").into(t, &homes)
	if i := slices.IndexFunc(homes.Homes, func(h registry.Home) bool { return h.ID == "kim" }); len(homes.Homes) != 3 || homes.Homes[i].Name != "김씨네" ||
		homes.Homes[i].Voice != (registry.Rights{Hear: true}) {
		t.Errorf("%+v", homes)
	}
}
