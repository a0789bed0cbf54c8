package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/media"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// nodeCatalog has three commands of a plain node; system.run is switched off.
func nodeCatalog() *catalog.Catalog {
	c := testCatalog()
	command := func(id, name string, enabled bool, fields ...catalog.ResultField) catalog.Capability {
		return catalog.Capability{ID: id, NodeCommand: name, TaskMethod: name, Enabled: enabled, ResultContract: catalog.ResultContract{BindableResultFields: fields}}
	}
	field := func(name, kind string) catalog.ResultField {
		return catalog.ResultField{Name: name, Schema: catalog.SlotSchema{Type: kind}}
	}
	photo := field("photo_ref", "string")
	photo.Stored = "base64"
	c.Capabilities = append(c.Capabilities,
		command("status", "device.status", true, field("battery_level", "number"), field("apps_count", "number"), field("apps_0", "string")),
		command("snap", "camera.snap", true, photo, field("format", "string")),
		command("run", "system.run", false))
	c.Reasons = append(c.Reasons, catalog.Reason{Code: "NODE_BACKGROUND_UNAVAILABLE"}, catalog.Reason{Code: "PERMISSION_REQUIRED", RequiresDecision: true})
	return c
}

var nodeCommands = []string{"device.status", "camera.snap", "system.run"}

// plain connects a node that declares nothing but its commands.
func (h *home) plain() *node {
	h.t.Helper()
	key := newKey(h.t)
	_, err := h.registry.Registry.Declare(h.t.Context(), registry.Declaration{ID: idOf(key), PublicKey: publicOf(key), Commands: nodeCommands})
	must(h.t, err)
	must(h.t, h.registry.Approve(h.t.Context(), idOf(key)))
	return h.join(key, func(c *wire.Connect) { c.Errand, c.Commands = nil, nodeCommands })
}

func nodeHome(t *testing.T) *home {
	t.Helper()
	return newHome(t, func(o *gateway.Options) {
		o.Catalog, o.Media = nodeCatalog(), media.Open(t.TempDir(), media.Limits{Item: 1000})
	})
}

func (h *home) command(n *node, operation, capability, command string) plan.Submit {
	id, err := plan.ParseOperationID(operation)
	must(h.t, err)
	return plan.Submit{Route: h.route(n), DeviceID: n.id, OperationID: operation, PlanID: id.Plan, StepID: id.Step, CapabilityID: capability,
		TaskMethod: command, NodeCommand: command, TimeoutMs: 60_000, TTLMs: 60_000}
}

func TestLaw05ACommandIsAcceptedAndItsResultCompletesIt(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	c := h.command(n, "p/a/1", "status", "device.status")
	c.Arguments = map[string]any{"x": 1.0}
	got, err := h.gateway.Submit(t.Context(), c)
	if err != nil || got.Delivery != plan.DeliveryAccepted || got.TaskID == "" || got.Terminal != nil {
		t.Fatalf("submit: %+v, %v", got, err)
	}
	r := n.invoked()
	if r.ID != got.TaskID || r.Command != "device.status" || r.ParamsJSON != `{"x":1}` || r.TimeoutMs != 60_000 {
		t.Errorf("invoked %+v", r)
	}
	h.signals.none(t)
	if ack := n.answer(r, `{"battery":{"level":81,"secret":1},"apps":["a","b"]}`); !*ack.OK || strings.Contains(string(ack.Payload), "ignored") {
		t.Errorf("acknowledged %s %v", ack.Payload, ack.Error)
	}
	ev := await(t, h.signals.arrived, "the completion").sent.Event
	if ev.Name != plan.EventCompleted || ev.OperationID != "p/a/1" || ev.EventID != "invoke-"+r.ID || ev.Seq != 1 || ev.Epoch != c.Route.ConnectionEpoch {
		t.Errorf("signalled %+v", ev)
	}
	if len(ev.Result) != 3 || ev.Result["battery_level"] != 81.0 || ev.Result["apps_count"] != 2.0 || ev.Result["apps_0"] != "a" {
		t.Errorf("Law04: the result is %v", ev.Result)
	}
}

// A submit that comes twice while its command runs is sent once, and a result that comes twice is told once.
func TestLaw07ACommandAndItsResultCountOnce(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	c := h.command(n, "p/a/1", "status", "device.status")
	first, err := h.gateway.Submit(t.Context(), c)
	must(t, err)
	again, err := h.gateway.Submit(t.Context(), c)
	if err != nil || again.TaskID != first.TaskID {
		t.Errorf("the copy: %+v, %v", again, err)
	}
	if got, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: "p/a/1", NodeCommand: c.NodeCommand}); err != nil || got.Finding != plan.StatusFound || got.Status != plan.OpRunning {
		t.Errorf("while it runs: %+v, %v", got, err)
	}
	if list, partial, err := h.gateway.Tasks(t.Context(), n.id); err != nil || partial || len(list) != 1 || list[0] != "p/a/1" {
		t.Errorf("it runs %v, %v, %v", list, partial, err)
	}
	r := n.invoked()
	n.answer(r, `{}`)
	await(t, h.signals.arrived, "the completion")
	if ack := n.answer(r, `{}`); !*ack.OK || !strings.Contains(string(ack.Payload), `"ignored":true`) {
		t.Errorf("the result again: %s %v", ack.Payload, ack.Error)
	}
	h.signals.none(t)
	select {
	case f := <-n.events:
		t.Errorf("sent twice: %+v", f)
	default:
	}
	if got, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: "p/a/1", NodeCommand: c.NodeCommand}); err != nil || got.Finding != plan.StatusForgotten {
		t.Errorf("after it: %+v, %v", got, err)
	}
}

// Law 19: a result is sent once, so it is acknowledged only when it is recorded, and recorded even if the socket is gone by then.
func TestLaw19AResultIsRecordedBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	_, err := h.gateway.Submit(t.Context(), h.command(n, "p/a/1", "status", "device.status"))
	must(t, err)
	h.signals.fail(errDown)
	r := n.invoked()
	answered := n.ask(wire.MethodInvokeResult, wire.InvokeResult{ID: r.ID, NodeID: n.id, OK: true, Payload: json.RawMessage(`{}`)})
	eventually(t, "the result was read", func() bool { return h.signals.tries.Load() > 0 })
	if len(answered) > 0 {
		t.Error("acknowledged before it is recorded")
	}
	must(t, n.conn.CloseNow())
	n.end()
	h.signals.fail(nil)
	if ev := await(t, h.signals.arrived, "the completion").sent.Event; ev.OperationID != "p/a/1" || ev.Name != plan.EventCompleted {
		t.Errorf("signalled %+v", ev)
	}
}

func TestLaw19AResultThatNoPlanTakesIsOnRecord(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	_, err := h.gateway.Submit(t.Context(), h.command(n, "p/a/1", "status", "device.status"))
	must(t, err)
	h.signals.fail(gateway.ErrPlanOver)
	ack := n.answer(n.invoked(), `{"battery":{"level":3}}`)
	if !*ack.OK || !strings.Contains(string(ack.Payload), `"ignored":true`) {
		t.Errorf("acknowledged %s %v", ack.Payload, ack.Error)
	}
	strays, err := h.registry.StrayEvents(t.Context(), n.id, 10)
	if err != nil || len(strays) != 1 || strays[0].Ack != wire.AckLate {
		t.Errorf("on record: %+v, %v", strays, err)
	}
}

// The node ignores the outer timeout: it is told to stop, the plan is told to doubt, and what comes all the same is told too.
func TestLaw10ALateResultIsIgnoredOnTheWireAndToldToThePlan(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	c := h.command(n, "p/a/1", "status", "device.status")
	c.TimeoutMs = 1
	_, err := h.gateway.Submit(t.Context(), c)
	must(t, err)
	r := n.invoked()
	cancel, err := wire.ParseInvokeCancel(n.next(wire.EventCancel).Payload)
	if err != nil || cancel.InvokeID != r.ID {
		t.Errorf("cancelled %+v, %v", cancel, err)
	}
	if doubt := await(t, h.signals.arrived, "the doubt").sent.Doubt; doubt == nil || doubt.OperationID != "p/a/1" {
		t.Errorf("doubt %+v", doubt)
	}
	if got, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: "p/a/1", NodeCommand: c.NodeCommand}); err != nil || got.Finding != plan.StatusForgotten {
		t.Errorf("after it: %+v, %v", got, err)
	}
	if ack := n.answer(r, `{}`); !*ack.OK || !strings.Contains(string(ack.Payload), `"ignored":true`) {
		t.Errorf("the late result: %s %v", ack.Payload, ack.Error)
	}
	if ev := await(t, h.signals.arrived, "the late completion").sent.Event; ev == nil || ev.Name != plan.EventCompleted || ev.OperationID != "p/a/1" {
		t.Errorf("signalled %+v", ev)
	}
}

func TestLaw15ACancelReachesTheNodeAndKeepsWhatDidNotComeYet(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	_, err := h.gateway.Submit(t.Context(), h.command(n, "p/a/1", "status", "device.status"))
	must(t, err)
	r := n.invoked()
	cancel := plan.CancelTask{DeviceID: n.id, OperationID: "p/a/1"} // as the lease asks, which knows no command
	if got, err := h.gateway.CancelTask(t.Context(), cancel); err != nil || got.Case != plan.CancelStopping {
		t.Errorf("cancel: %+v, %v", got, err)
	}
	if told, err := wire.ParseInvokeCancel(n.next(wire.EventCancel).Payload); err != nil || told.InvokeID != r.ID {
		t.Errorf("told %+v, %v", told, err)
	}
	cancel.OperationID = "p/b/1"
	if got, err := h.gateway.CancelTask(t.Context(), cancel); err != nil || got.Case != plan.CancelTombstoned {
		t.Errorf("cancel of what never came: %+v, %v", got, err)
	}
	got, err := h.gateway.Submit(t.Context(), h.command(n, "p/b/1", "status", "device.status"))
	if err != nil || got.Delivery != plan.DeliveryRefused || got.Report.Code != "TOMBSTONED" {
		t.Errorf("a submit after its cancel: %+v, %v", got, err)
	}
}

// Two catalogs may differ: the gateway's own decides what a node can be told. system.run is not offered unless it is enabled there.
func TestACommandThatTheGatewaysCatalogDoesNotEnableIsNotSent(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	for capability, command := range map[string]string{"run": "system.run", "unknown": "system.run", "status": "system.run"} {
		got, err := h.gateway.Submit(t.Context(), h.command(n, "p/"+capability+"/1", capability, command))
		if err != nil || got.Delivery != plan.DeliveryRefused || got.Report.Code != "CAPABILITY_DISABLED" {
			t.Errorf("%s by %s: %+v, %v", command, capability, got, err)
		}
	}
	select {
	case f := <-n.events:
		t.Errorf("the node was told %+v", f)
	case <-time.After(time.Millisecond): // everything sent before it was answered
	}
}

func TestWhatANodeSaysInsteadOfBeginningIsAReason(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	for i, c := range []struct{ code, message, want, permission string }{
		{"NODE_BACKGROUND_UNAVAILABLE", "", "NODE_BACKGROUND_UNAVAILABLE", ""},
		{"MIC_PERMISSION_REQUIRED", "", "PERMISSION_REQUIRED", "MIC"}, // not in this catalog's table
		{"UNAVAILABLE", "node host is updating", "NODE_NOT_READY", ""},
		{"UNAVAILABLE", "command not supported", "COMMAND_NOT_OFFERED", ""},
		{"ODD", strings.Repeat("x", 10_000), "ODD", ""},
	} {
		op := plan.OperationID{Plan: "p", Step: "a", Generation: i + 1}.String()
		_, err := h.gateway.Submit(t.Context(), h.command(n, op, "status", "device.status"))
		must(t, err)
		n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: n.invoked().ID, NodeID: n.id, Error: &wire.InvokeError{Code: c.code, Message: c.message}})
		ev := await(t, h.signals.arrived, c.code).sent.Event
		if ev.Name != plan.EventFailed || ev.Report.Code != c.want || len(ev.Report.Detail) > 600 {
			t.Errorf("%s: %s %+v", c.code, ev.Name, ev.Report)
		}
		if p, _ := ev.Report.Params["permission"].(string); p != c.permission {
			t.Errorf("%s: permission %q", c.code, p)
		}
	}
}

func TestLaw04BytesBecomeAReference(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	snap := func(op string, photo []byte) *plan.Event {
		_, err := h.gateway.Submit(t.Context(), h.command(n, op, "snap", "camera.snap"))
		must(t, err)
		text := base64.StdEncoding.EncodeToString(photo)
		n.answer(n.invoked(), `{"format":"jpg","photo_ref":"forged","base64":"`+text+`"}`)
		s := await(t, h.signals.arrived, "the photo")
		if body, err := json.Marshal(s.sent); err != nil || strings.Contains(string(body), text) {
			t.Errorf("the bytes are in the signal: %s, %v", body, err)
		}
		return s.sent.Event
	}
	ref, _ := snap("p/a/1", []byte("a photo")).Result["photo_ref"].(string)
	if got := get(t, h, "/media/"+ref, sharedToken, 200); got != "a photo" {
		t.Errorf("under %s is %q", ref, got)
	}
	get(t, h, "/media/"+ref, "", 401)
	get(t, h, "/media/nothing", sharedToken, 404)
	if large := snap("p/b/1", make([]byte, 1001)); large.Result["photo_ref"] != nil || large.Result["format"] != "jpg" {
		t.Errorf("of what is too large: %v", large.Result)
	}
}
