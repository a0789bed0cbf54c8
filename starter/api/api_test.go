package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"errand/catalog"
	"errand/catalog/load"
	"errand/deviceio/registry"
	"errand/plan"
	"errand/starter/api"
	"errand/starter/plans"
)

// TestEveryRouteNeedsAToken takes the routes from the API's own description, so that a new one is held to it too.
func TestEveryRouteNeedsAToken(t *testing.T) {
	h := newHouse(t, "robot")
	routes := map[string]string{"/openapi.json": "GET", "/openapi.yaml": "GET", "/nowhere": "GET", "/": "GET"}
	for path, item := range h.api.OpenAPI().Paths {
		switch {
		case item.Get != nil:
			routes[path] = "GET"
		case item.Post != nil:
			routes[path] = "POST"
		default:
			t.Errorf("%s has a method that this test does not know", path)
		}
	}
	if len(routes) < 15 {
		t.Fatalf("only %d routes", len(routes))
	}
	for path, method := range routes {
		for name, header := range map[string]string{"none": "", "wrong": "Bearer " + secret[1:], "scheme": "Basic " + secret, "longer": "Bearer " + secret + "x", "bare": secret} {
			r := httptest.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(path, "{id}", "p-1"), strings.NewReader("{}"))
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			w := httptest.NewRecorder()
			h.api.ServeHTTP(w, r)
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s with token %s: answered %d", method, path, name, w.Code)
			}
		}
	}
	if len(h.plans.started)+len(h.plans.taken) != 0 {
		t.Error("something was done without a token")
	}
}

func TestAWeakOrMissingTokenServesNothing(t *testing.T) {
	for _, tokens := range [][]api.Token{nil, {{Owner: "a", Secret: "short"}}} {
		if _, err := api.New(api.Parts{Catalog: load.Builtin(), Tokens: tokens}); err == nil {
			t.Errorf("New took the tokens %v", tokens)
		}
	}
}

func TestWhatIsNotThereIsAProblemToo(t *testing.T) {
	h := newHouse(t, "robot")
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/v1/nothing", 404, ""},
		{"DELETE", "/v1/plans/p-1", 405, "GET, HEAD"},
		{"GET", "/v1/utterances", 405, "POST"},
		{"POST", "/v1/plans/p-1/pause", 404, ""}, // of the contract, and not there yet
	} {
		got := h.ask(c.method, c.path, "")
		if p := got.problem(t); got.status != c.status || p.Status != c.status || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: answered %d, Allow %q", c.method, c.path, got.status, got.header.Get("Allow"))
		}
	}
}

func TestTheDescriptionIsOpenAPI31AndDescribesBodiesAndErrors(t *testing.T) {
	h := newHouse(t, "robot")
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	h.ask("GET", "/openapi.json", "").into(t, &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %q", doc.OpenAPI)
	}
	if ref := doc.Paths["/v1/utterances"]["post"].RequestBody.Content["application/json"].Schema.Ref; ref != "#/components/schemas/Utterance" {
		t.Errorf("the body of an utterance is described by %q", ref)
	}
	if _, ok := doc.Components.Schemas["Problem"].Properties["errors"]; !ok {
		t.Error("problems are not described with their errors")
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if op.Responses["401"] == nil {
				t.Errorf("%s %s does not tell of 401", method, path)
			}
		}
	}
	// The description and the schema at the border must know the same fields.
	var border struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(api.UtteranceSchema(), &border); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas["Utterance"].Properties {
		if _, ok := border.Properties[name]; !ok && name != "$schema" {
			t.Errorf("the description knows %s, the border does not", name)
		}
		delete(border.Properties, name)
	}
	if len(border.Properties) != 0 {
		t.Errorf("the border knows %v, the description does not", border.Properties)
	}
}

func TestEventsAreSentAsTheyHappenAndEndWithTheOutcome(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	h.plans.changes = []plans.Change{{Entry: &plan.Entry{N: 3, Kind: "step", Step: "move", To: "completed", Text: "줄\n바꿈"}},
		{Bound: &plans.Bound{Step: "purify", Slot: "area_id", Value: "6", Path: "arrival.result.area_id", From: "move"}},
		{Outcome: &plan.Outcome{PlanID: "p-1", State: plan.Completed, Steps: []plan.StepOutcome{}}}}
	got := h.ask("GET", "/v1/plans/p-1/events?since=1", "", "Last-Event-ID", "2")
	want := []string{
		"event: entry", "id: 3", `data: {"n":3,"at":0,"kind":"step","step":"move","to":"completed","text":"줄\n바꿈"}`, "",
		"event: bound", `data: {"step":"purify","slot":"area_id","value":"6","path":"arrival.result.area_id","from":"move"}`, "",
		"event: outcome"}
	lines := strings.Split(got.text, "\n")
	if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" || strings.Join(lines[:len(want)], "\n") != strings.Join(want, "\n") {
		t.Errorf("%d %v\n%s", got.status, got.header, got.text)
	}
	if h.plans.watched[0] != 2 {
		t.Errorf("watched since %d, want 2", h.plans.watched[0])
	}
	if got := h.ask("GET", "/v1/plans/p-none/events", ""); got.status != 404 || got.problem(t).Code != "unknown_plan" {
		t.Errorf("events of no plan: %d", got.status)
	}
}

func TestAWatchThatFailsSaysWhy(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	h.plans.err = plans.ErrNoOutcome
	got := h.ask("GET", "/v1/plans/p-1/events", "")
	if !strings.Contains(got.text, "event: problem\ndata: {") || !strings.Contains(got.text, `"no_outcome"`) {
		t.Error(got.text)
	}
}

func TestWatchesEndWithTheServerAndFlushAtOnce(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	h.plans.changes = []plans.Change{{Entry: &plan.Entry{N: 1}}} // and then nothing more
	server := httptest.NewServer(h.api)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/plans/p-1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	reader := bufio.NewReader(response.Body)
	if line, err := reader.ReadString('\n'); err != nil || line != "event: entry\n" {
		t.Fatalf("%q, %v", line, err)
	}
	h.api.EndWatches()
	var rest bytes.Buffer
	if _, err := rest.ReadFrom(reader); err != nil {
		t.Errorf("the stream did not end well: %v", err)
	}
}

// The deadlines for reading a request must not reach into its handler: net/http would report the client as gone.
func TestReadDeadlinesEndWithTheRequest(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	h.plans.changes = []plans.Change{{Outcome: &plan.Outcome{State: plan.Completed}}}
	const readTimeout = 100 * time.Millisecond
	outlive := func(ctx context.Context) error { // that nothing happens can only be seen by waiting
		select {
		case <-time.After(3 * readTimeout):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h.plans.await = func(ctx context.Context, _ string) (plan.View, error) {
		return plan.View{State: plan.Running}, outlive(ctx)
	}
	h.plans.beforeWatch = outlive
	server := httptest.NewUnstartedServer(h.serve(time.Minute))
	server.Config.ReadTimeout = readTimeout
	server.Start()
	defer server.Close()
	for _, c := range []struct{ method, path, body, want string }{
		{http.MethodPost, "/v1/utterances", utterance(""), `"state":"running"`},
		{http.MethodGet, "/v1/plans/p-1/events", "", "event: outcome"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %s, %v", c.path, response.StatusCode, text, err)
		}
	}
}

func TestDevicesAndCatalogCanBeLookedAt(t *testing.T) {
	h := newHouse(t, "robot")
	h.later(time.Second)
	h.add("new", false)
	var list api.DeviceList
	h.ask("GET", "/v1/devices", "").into(t, &list)
	if len(list.Devices) != 2 || list.Devices[0].State != registry.Approved || len(list.Devices[0].Rooms) != 2 {
		t.Errorf("%+v", list)
	}
	for _, id := range []string{"id-robot", "robot", "id-new"} {
		var d registry.Device
		h.ask("GET", "/v1/devices/"+id, "").into(t, &d)
		if d.ID == "" {
			t.Errorf("device %s: %+v", id, d)
		}
	}
	if got := h.ask("GET", "/v1/devices/nobody", ""); got.status != 404 || !strings.Contains(got.problem(t).Detail, `"robot"`) {
		t.Errorf("an unknown device: %d %s", got.status, got.text)
	}
	var c catalog.Catalog
	h.ask("GET", "/v1/catalog", "").into(t, &c)
	if c.Digest != load.Builtin().Digest {
		t.Errorf("catalog %s", c.Digest)
	}
}

func TestReadyTellsWhichPartDoesNotAnswer(t *testing.T) {
	h := newHouse(t, "robot")
	var health api.Health
	h.ask("GET", "/readyz", "").into(t, &health)
	if health.Status != "ok" || health.Parts["temporal"] != "ok" || health.Parts["registry"] != "ok" {
		t.Errorf("%+v", health)
	}
	h.plans.err = errors.New("connection refused by 10.0.0.1")
	got := h.ask("GET", "/readyz", "")
	if got.status != 503 || !strings.Contains(got.text, `"temporal":"does not answer"`) || strings.Contains(got.text, "10.0.0.1") {
		t.Errorf("%d %s", got.status, got.text)
	}
	h.ask("GET", "/healthz", "").into(t, &health)
}

func TestMetricsCountRoutesNotPlans(t *testing.T) {
	h := newHouse(t, "robot")
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1"`))
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1"`))
	h.ask("GET", "/v1/plans/p-secret", "")
	text := h.ask("GET", "/metrics", "").text
	for _, want := range []string{
		`errand_http_requests_total{route="GET /v1/plans/{id}",status="404"} 1`,
		`errand_plan_starts_total{result="started",source="utterance"} 1`,
		`errand_plan_starts_total{result="repeated",source="utterance"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "p-secret") {
		t.Error("a plan's id is a label")
	}
}

// A device is let in by the name that the list of devices shows, also while it waits.
func TestADeviceIsLetInByName(t *testing.T) {
	h := newHouse(t, "robot")
	h.add("stranger", false)
	var d registry.Device
	h.ask("POST", "/v1/devices/stranger/approve", "").into(t, &d)
	if d.ID != "id-stranger" || d.State != registry.Approved {
		t.Errorf("approve answered %+v", d)
	}
	h.ask("POST", "/v1/devices/stranger/revoke", "").into(t, &d)
	if d.State != registry.Revoked {
		t.Errorf("revoke answered %+v", d)
	}
	if got := h.ask("POST", "/v1/devices/nobody/approve", ""); got.status != 404 || got.problem(t).Code != "unknown_device" {
		t.Errorf("approve nobody: %d %s", got.status, got.text)
	}
}
