package device_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// lamp is a whole device: one task method, setLight.
type lamp struct {
	client *device.Client

	mu    sync.Mutex
	on    bool
	tasks map[string]wire.TaskEvent // operation id → its terminal event; a real device keeps this on disk
}

// Invoke answers the cloud's commands.
func (l *lamp) Invoke(ctx context.Context, command string, params json.RawMessage) (any, error) {
	if command != wire.CommandSubmitTask {
		return nil, &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: command}
	}
	task, err := wire.ParseTask(params)
	if err != nil {
		return nil, &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := wire.SubmitAnswer{Accepted: true, TaskID: "task/" + task.OperationID, TaskMethod: task.TaskMethod, StoreID: "lamp-1"}
	if done, ok := l.tasks[task.OperationID]; ok { // the same operation again: nothing moves
		answer.TerminalEvent = &done
		return answer, nil
	}
	l.on, _ = task.Params["on"].(bool)
	e := wire.TaskEvent{EventName: wire.TaskCompleted, TaskID: answer.TaskID, TaskMethod: task.TaskMethod, Trace: task.Trace,
		Progress: 1, Result: map[string]any{"on": l.on}, EffectCount: new(1)}
	told := device.TaskEvent(e)
	told.Key = e.OperationID + "/" + e.EventName // told once, also if the process dies right here
	if _, err := l.client.Emit(ctx, told); err != nil {
		return nil, err
	}
	l.tasks[task.OperationID] = e
	return answer, nil
}

// A minimal device: it connects, is told to light up, answers, and reports.
func Example() {
	gateway := &demoGateway{done: make(chan struct{})}
	server := httptest.NewServer(gateway)
	defer server.Close()
	dir, err := os.MkdirTemp("", "lamp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	l := &lamp{tasks: make(map[string]wire.TaskEvent)}
	l.client, err = device.Open(device.Options{
		URL:      "ws" + server.URL[len("http"):],
		Token:    "token-from-the-operator",
		StateDir: dir,
		Client:   wire.Client{ID: "lamp", DisplayName: "거실 조명"},
		Commands: []string{wire.CommandSubmitTask},
		Profile:  wire.Profile{Dedupe: true},
		StoreID:  "lamp-1", RetentionS: 3600,
		Handler: l,
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.client.Close()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	go func() { <-gateway.done; stop() }()
	fmt.Println("run:", l.client.Run(ctx))

	// Output:
	// 거실 조명 connects
	// answer: accepted true
	// event: COMPLETED p-1/light/1 map[on:true]
	// run: context canceled
}

// demoGateway does what a gateway does, once, in a straight line, and checks nothing.
type demoGateway struct{ done chan struct{} }

func (g *demoGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer close(g.done)
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.CloseNow()
	send := func(f wire.Frame, err error) {
		if err := errors.Join(err, wsjson.Write(r.Context(), conn, f)); err != nil {
			fmt.Println(err)
		}
	}
	read := func() (f wire.Frame) {
		if err := wsjson.Read(r.Context(), conn, &f); err != nil {
			panic(err) // net/http ends the connection
		}
		return f
	}

	send(wire.NewEvent(wire.EventChallenge, wire.Challenge{Nonce: "n-1", TS: time.Now().UnixMilli()}))
	connect := read()
	who, err := wire.ParseConnect(connect.Params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(who.Client.DisplayName, "connects")
	send(wire.NewRes(connect.ID, wire.Hello{Type: "hello-ok", Protocol: wire.ProtocolVersion, Policy: wire.Policy{TickIntervalMs: 30_000}}))

	send(wire.NewEvent(wire.EventInvoke, wire.InvokeRequest{ID: "i-1", NodeID: who.Device.ID, Command: wire.CommandSubmitTask,
		ParamsJSON: `{"taskMethod":"setLight","params":{"on":true},"operation_id":"p-1/light/1"}`}))
	said := make(map[string]wire.Frame) // the answer and the event come in either order
	for len(said) < 2 {
		f := read()
		said[f.Method] = f
	}
	result, _ := wire.ParseInvokeResult(said[wire.MethodInvokeResult].Params)
	answer, _ := wire.ParseSubmitAnswer(result.Body())
	fmt.Println("answer: accepted", answer.Accepted)
	told, _ := wire.ParseNodeEvent(said[wire.MethodNodeEvent].Params)
	event, _ := wire.ParseTaskEvent(told.Body())
	fmt.Println("event:", event.EventName, event.OperationID, event.Result)
	send(wire.NewRes(said[wire.MethodNodeEvent].ID, wire.EventAck{EventID: event.EventID, Ack: wire.AckApplied}))
}
