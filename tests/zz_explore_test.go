package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

const moveOnly = `{"steps":[{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"arrival"}]}`

func rss(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "VmRSS") {
			return strings.TrimSpace(strings.TrimPrefix(l, "VmRSS:"))
		}
	}
	return "?"
}

func fds(pid int) int {
	d, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(d)
}

func dialRaw(t *testing.T, s *stack.Stack) (*websocket.Conn, string) {
	c, _, err := websocket.Dial(t.Context(), s.Gateway, nil)
	if err != nil {
		t.Logf("dial: %v", err)
		return nil, ""
	}
	c.SetReadLimit(1 << 20)
	_, data, err := c.Read(t.Context())
	if err != nil {
		t.Logf("challenge: %v", err)
		return nil, ""
	}
	return c, string(data)
}

func readOne(c *websocket.Conn, d time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_, data, err := c.Read(ctx)
	if err != nil {
		return "ERR " + err.Error()
	}
	return string(data)
}

func TestZZConnections(t *testing.T) {
	s := stack.Start(t)
	pid := s.GatewayProc.Pid()
	t.Logf("gateway rss %s fds %d", rss(pid), fds(pid))
	deep := `{"type":"req","id":"1","method":"connect","params":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000) + `}`
	for name, text := range map[string]string{
		"broken":     `{"type":"req","id":"1","method":"connect","params":{`,
		"notobject":  `[1,2]`,
		"empty":      ``,
		"dup":        `{"type":"req","id":"1","id":"2","method":"connect","params":{}}`,
		"dup in":     `{"type":"req","id":"1","method":"connect","params":{"role":"node","role":"operator"}}`,
		"too big":    `{"type":"req","id":"1","method":"connect","params":{"x":"` + strings.Repeat("x", 70<<10) + `"}}`,
		"deep":       deep,
		"deepbroken": strings.Repeat("[", 60000),
		"badutf8":    "{\"type\":\"req\",\"id\":\"1\xff\",\"method\":\"connect\"}",
		"notconnect": `{"type":"req","id":"1","method":"node.event","params":{}}`,
		"event":      `{"type":"event","event":"tick"}`,
		"res":        `{"type":"res","id":"1","ok":true}`,
		"hugeint":    `{"type":"req","id":"1","method":"connect","params":{"minProtocol":99999999999999999999999,"maxProtocol":4}}`,
		"proto3":     `{"type":"req","id":"1","method":"connect","params":{"minProtocol":3,"maxProtocol":3,"client":{"id":"x","version":"1","platform":"l","mode":"node"},"role":"node","device":{"id":"x","publicKey":"x","signature":"x","signedAt":1}}}`,
	} {
		c, _ := dialRaw(t, s)
		if c == nil {
			continue
		}
		err := c.Write(t.Context(), websocket.MessageText, []byte(text))
		began := time.Now()
		a := readOne(c, 20*time.Second)
		b := readOne(c, 20*time.Second)
		if len(a) > 400 {
			a = a[:400] + "…"
		}
		t.Logf("%-10s write=%v answer=%s | %s | %v", name, err, a, b, time.Since(began).Round(time.Millisecond))
		_ = c.CloseNow()
	}
	// signature attacks
	key, other := stack.NewKey(t), stack.NewKey(t)
	for name, spoil := range map[string]func(c *wire.Connect, ch wire.Challenge){
		"good":       func(c *wire.Connect, ch wire.Challenge) { wire.Sign(key, c, ch) },
		"wrongnonce": func(c *wire.Connect, ch wire.Challenge) { ch.Nonce = "x" + ch.Nonce; wire.Sign(key, c, ch) },
		"nononce":    func(c *wire.Connect, ch wire.Challenge) { ch.Nonce = ""; wire.Sign(key, c, ch) },
		"skew":       func(c *wire.Connect, ch wire.Challenge) { ch.TS -= 200_000; wire.Sign(key, c, ch) },
		"minint":     func(c *wire.Connect, ch wire.Challenge) { ch.TS = -9007199254740991; wire.Sign(key, c, ch) },
		"otherkey": func(c *wire.Connect, ch wire.Challenge) {
			wire.Sign(other, c, ch)
			sig := c.Device.Signature
			wire.Sign(key, c, ch)
			c.Device.Signature = sig
		},
		"changed": func(c *wire.Connect, ch wire.Challenge) { wire.Sign(key, c, ch); c.Role = "operator" },
		"operator": func(c *wire.Connect, ch wire.Challenge) { c.Role = "operator"; wire.Sign(key, c, ch) },
		"notoken":  func(c *wire.Connect, ch wire.Challenge) { c.Auth = wire.Auth{}; wire.Sign(key, c, ch) },
		"badtoken": func(c *wire.Connect, ch wire.Challenge) { c.Auth = wire.Auth{Token: "nope"}; wire.Sign(key, c, ch) },
		"boottok":  func(c *wire.Connect, ch wire.Challenge) { c.Auth = wire.Auth{BootstrapToken: "nope"}; wire.Sign(key, c, ch) },
		"evilname": func(c *wire.Connect, ch wire.Challenge) { c.Client.DisplayName = "\x1b[31mred\n\nlog\u202e"; wire.Sign(key, c, ch) },
	} {
		c, first := dialRaw(t, s)
		f, _ := wire.ParseFrame([]byte(first))
		ch, _ := wire.ParseChallenge(f.Payload)
		d := stack.Declared()
		spoil(&d, ch)
		fr, _ := wire.NewReq("1", "connect", d)
		raw, _ := json.Marshal(fr)
		_ = c.Write(t.Context(), websocket.MessageText, raw)
		a := readOne(c, 20*time.Second)
		if len(a) > 300 {
			a = a[:300]
		}
		t.Logf("%-10s %s", name, a)
		_ = c.CloseNow()
	}
	// a second connect on an open socket
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	f, err := n.Request(t.Context(), "connect", stack.Declared())
	t.Logf("connect twice: %+v %v", f.Error, err)
	f, err = n.Request(t.Context(), wire.MethodInvokeResult, wire.InvokeResult{ID: "nope", NodeID: n.ID, OK: true, PayloadJSON: `{"a":1}`})
	t.Logf("unknown result: ok=%v %s %v", *f.OK, f.Payload, err)
	// frames over maxPayload after
	big := bytes.Repeat([]byte("x"), wire.MaxPayload+100)
	err = n.Write(t.Context(), big)
	t.Logf("over maxPayload: write %v closed %v", err, <-n.Closed)

	// slow loris: many sockets without connect
	var conns []*websocket.Conn
	for range 3000 {
		c, _, err := websocket.Dial(t.Context(), s.Gateway, nil)
		if err != nil {
			t.Logf("dial %d: %v", len(conns), err)
			break
		}
		conns = append(conns, c)
	}
	t.Logf("%d idle sockets: rss %s fds %d", len(conns), rss(pid), fds(pid))
	n2 := s.Node(t, stack.NewKey(t), stack.Declared())
	t.Logf("a good device still connects: %s", n2.ID[:8])
	began := time.Now()
	for fds(pid) > 100 && time.Since(began) < 40*time.Second {
		time.Sleep(time.Second)
	}
	t.Logf("after %v: rss %s fds %d", time.Since(began), rss(pid), fds(pid))
	for _, c := range conns {
		_ = c.CloseNow()
	}
	// raw TCP: half a request, keep-alive idle, slow body
	addr := strings.TrimSuffix(strings.TrimPrefix(s.Gateway, "ws://"), "/")
	half, _ := net.Dial("tcp", addr)
	fmt.Fprint(half, "GET / HTTP/1.1\r\nHost: x\r\nX-")
	idle, _ := net.Dial("tcp", addr)
	fmt.Fprint(idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	slow, _ := net.Dial("tcp", addr)
	fmt.Fprint(slow, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
	var wg sync.WaitGroup
	for name, c := range map[string]net.Conn{"half": half, "idle": idle, "slow": slow} {
		wg.Go(func() {
			began := time.Now()
			_ = c.SetReadDeadline(time.Now().Add(45 * time.Second))
			buf := make([]byte, 4096)
			var err error
			for err == nil {
				_, err = c.Read(buf)
			}
			t.Logf("tcp %s ended after %v: %v", name, time.Since(began).Round(time.Second), err)
		})
	}
	wg.Wait()
}

func TestZZEvents(t *testing.T) {
	s := stack.Start(t)
	pid := s.GatewayProc.Pid()
	a, b := s.Node(t, stack.NewKey(t), stack.Declared()), s.Node(t, stack.NewKey(t), stack.Declared())
	body := strings.Replace(moveOnly, `{"steps"`, `{"device_id":"`+a.ID+`","steps"`, 1)
	status, answer := s.Post(t, "/v1/plans", body)
	t.Logf("%d %s", status, answer)
	var st struct {
		PlanID string `json:"plan_id"`
	}
	_ = json.Unmarshal(answer, &st)
	p := s.Plan(st.PlanID)
	inv := a.Invoked(t, wire.CommandSubmitTask)
	op := st.PlanID + "/move/1"
	// B answers A's invoke
	f, _ := b.Request(t.Context(), wire.MethodInvokeResult, wire.InvokeResult{ID: inv.ID, NodeID: a.ID, OK: true, PayloadJSON: `{"accepted":false,"reason_code":"X"}`})
	t.Logf("B answers A's invoke: %s", f.Payload)
	t.Logf("A answers: %s", a.Answer(t, inv, `{"accepted":true,"taskId":"t1","taskState":"RUNNING","taskMethod":"setMoveTo","store_id":"store-1"}`).Payload)
	t.Logf("A answers twice: %s", a.Answer(t, inv, `{"accepted":false,"reason_code":"X"}`).Payload)
	p.AwaitStep(t, "move", plan.StepAccepted, plan.StepRunning)
	ev := func(id string, seq int, name, extra string) string {
		return fmt.Sprintf(`{"event_id":%q,"boot_id":"b1","seq":%d,"event_name":%q,"operation_id":%q,"task_method":"setMoveTo"%s}`, id, seq, name, op, extra)
	}
	show := func(what string, n *stack.Node, payload string) {
		f, err := n.Request(t.Context(), wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: payload})
		if err != nil {
			t.Logf("%-22s err %v", what, err)
			return
		}
		t.Logf("%-22s ok=%v %s %v", what, *f.OK, f.Payload, f.Error)
	}
	show("B: foreign COMPLETED", b, ev("b1-1", 1, "COMPLETED", `,"result":{"area_id":"9","current_room_name":"x"}`))
	show("B: foreign refused", b, strings.Replace(ev("b1-2", 2, "COMPLETED", ``), `"seq":2`, `"seq":"x"`, 1))
	time.Sleep(2 * time.Second)
	v := p.View(t)
	t.Logf("after B: %s step %s waiting %q", v.State, v.Steps[0].State, v.Plan.WaitingFor)
	show("unknown boot", a, strings.Replace(ev("x-1", 1, "RUNNING", ``), `"b1"`, `"zz"`, 1))
	show("disagree", a, ev("b1-1", 1, "RUNNING", `,"eventName":"COMPLETED"`))
	show("dup keys", a, ev("b1-1", 1, "RUNNING", `,"seq":7`))
	show("huge result", a, ev("b1-1", 1, "RUNNING", `,"result":{"area_id":"`+strings.Repeat("x", 65000)+`"}`))
	show("too huge result", a, ev("b1-2", 2, "COMPLETED", `,"result":{"area_id":"`+strings.Repeat("x", 66000)+`"}`))
	show("way too huge", a, ev("b1-2", 2, "COMPLETED", `,"result":{"area_id":"`+strings.Repeat("x", 5<<20)+`"}`))
	show("deep result", a, ev("b1-3", 3, "COMPLETED", `,"result":`+strings.Repeat(`{"a":`, 40)+"1"+strings.Repeat("}", 40)))
	show("very deep result", a, ev("b1-3", 3, "COMPLETED", `,"result":`+strings.Repeat(`{"a":`, 9980)+"1"+strings.Repeat("}", 9980)))
	show("mistyped result", a, ev("b1-4", 4, "COMPLETED", `,"result":[1]`))
	show("nul in name", a, ev("b1-5", 5, "RUNNING", `,"stage":"a\u0000b"`))
	show("lone surrogate", a, ev("b1-5", 5, "RUNNING", `,"stage":"\ud800"`))
	show("op other plan", a, strings.Replace(ev("b1-6", 6, "COMPLETED", `,"cloud_plan_id":"p-x"`), `zzz`, ``, 1))
	show("seq 0", a, ev("b1-0", 0, "RUNNING", ``))
	show("seq back", a, ev("b1-7", 1, "RUNNING", ``))
	show("event id long", a, ev(strings.Repeat("e", 200), 8, "RUNNING", ``))
	show("nonsense name", a, ev("b1-8", 8, "EXPLODED", ``))
	show("1e300 seq", a, strings.Replace(ev("b1-9", 9, "RUNNING", ``), `"seq":9`, `"seq":1e300`, 1))
	// reused event ids with other bodies, same boot/seq other event id
	show("STARTED 10", a, ev("b1-10", 10, "STARTED", ``))
	show("id reused", a, ev("b1-10", 11, "BLOCKED", `,"reason_code":"PATH_BLOCKED"`))
	show("seq reused", a, ev("b1-10b", 10, "BLOCKED", `,"reason_code":"PATH_BLOCKED"`))
	time.Sleep(time.Second)
	v = p.View(t)
	t.Logf("now: %s step %s waiting %q", v.State, v.Steps[0].State, v.Plan.WaitingFor)
	// answers nonsense events
	for _, q := range []string{p.ID + ".1", "../x", "", strings.Repeat("p", 300) + ".1"} {
		f, _ := b.Request(t.Context(), wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeAnswer, PayloadJSON: fmt.Sprintf(`{"event_id":"q-%d","boot_id":"b1","seq":50,"question_id":%q,"choice":"retry"}`, len(q), q)})
		t.Logf("B answers question %.20q: ok=%v %s %v", q, *f.OK, f.Payload, f.Error)
	}
	for what, ev := range map[string]string{"observation": `{"event_id":"o-1","boot_id":"b1","seq":60,"kind":"x","frame":"` + strings.Repeat("A", 1000) + `"}`, "obs huge": `{"event_id":"o-2","boot_id":"b1","seq":61,"kind":"` + strings.Repeat("A", 10<<20) + `"}`, "obs broken": `[]`} {
		f, _ := b.Request(t.Context(), wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeObservation, PayloadJSON: ev})
		t.Logf("%s: ok=%v %s %v", what, *f.OK, f.Payload, f.Error)
	}
	f, _ = b.Request(t.Context(), wire.MethodNodeEvent, map[string]any{"event": strings.Repeat("x", 1000), "payloadJSON": "{"})
	t.Logf("bad node event: ok=%v %s %.300v", *f.OK, f.Payload, f.Error)
	v = p.View(t)
	for _, e := range v.Journal {
		t.Logf("J %d %s %s %s→%s %.160s", e.N, e.Kind, e.Step, e.From, e.To, e.Text)
	}
	t.Logf("gateway rss %s", rss(pid))
	show("COMPLETED", a, ev("b1-20", 20, "COMPLETED", `,"result":{"area_id":"6","current_room_name":"안방"}`))
	o, how := p.Wait(t)
	t.Logf("%s %s %+v %q", o.State, how, o.Reason, o.TTSResponse)
	show("late", a, ev("b1-21", 21, "FAILED", ``))
}
