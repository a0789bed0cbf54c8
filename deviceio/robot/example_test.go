package robot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/robot"
	"errand/deviceio/wire"
)

// A robot on the table: its clock is moved by hand, and it is not connected to anything. What it did is in the ledger,
// what it would tell is in its outbox.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "robot")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { fmt.Println("the table is cleared:", os.RemoveAll(dir) == nil) }()
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	r, err := robot.Open(ctx, robot.Options{StateDir: dir, Clock: func() time.Time { return now },
		Report: func(line string) { fmt.Println("the robot " + line) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	outbox, err := device.Open(device.Options{URL: "ws://127.0.0.1:7420/", StateDir: dir, Handler: r, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = r.Attach(ctx, outbox)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := r.Submit(ctx, wire.Task{TaskMethod: "setMoveTo", Params: map[string]any{"position_name": "안방"},
		Trace: wire.Trace{OperationID: "p-1/move/1"}})
	fmt.Println("accepted:", answer.Accepted, answer.TaskState, err)
	for range 200 {
		now = now.Add(100 * time.Millisecond)
		if err := r.Tick(ctx); err != nil {
			fmt.Println(err)
		}
	}
	effects, err := robot.ReadLedger(dir)
	for _, e := range effects {
		fmt.Println("effect:", e.OperationID, e.Kind, "in room", e.RoomID, err)
	}
	fmt.Println("events to tell:", outbox.OutboxStats().Pending > 0)
	if err := r.Close(); err != nil {
		fmt.Println(err)
	}
	if err := outbox.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// accepted: true QUEUED <nil>
	// the robot starts setMoveTo (p-1/move/1)
	// the robot leaves 거실 for 안방 (p-1/move/1)
	// the robot arrives in 안방 (p-1/move/1)
	// effect: p-1/move/1 arrived in room 6 <nil>
	// events to tell: true
	// the table is cleared: true
}

// A fault as a test posts it to the control API: keep the robot standing half way until it is released.
func ExampleFault() {
	half := 0.5
	text, err := json.Marshal(struct {
		Kind   robot.FaultKind `json:"kind"`
		Method string          `json:"method"`
		At     *float64        `json:"at"`
	}{robot.FaultHold, "setMoveTo", &half})
	fmt.Println("POST /faults", string(text), err)
	// Output: POST /faults {"kind":"hold","method":"setMoveTo","at":0.5} <nil>
}
