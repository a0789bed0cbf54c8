package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"errand/deviceio/device"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// printing shows what plans would get.
type printing struct{ got chan string }

func (p printing) Signal(_ context.Context, workflowID, requestID string, s plan.Signal) error {
	_, id, _ := strings.Cut(requestID, "/")
	p.got <- fmt.Sprintln("plan", workflowID, "hears", s.Event.Name, "once:", strings.Contains(id, "-1/"), s.Event.Result)
	return nil
}

func (p printing) OwnerOf(context.Context, string) (gateway.Owner, error) {
	return gateway.Owner{}, nil
}

// A gateway between a device and its plan: a command goes out, the device's report comes in, stripped to what the catalog lists.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir, err := os.MkdirTemp("", "errand")
	if err != nil {
		fmt.Println(err)
		return
	}
	devices, err := registry.Open(ctx, filepath.Join(dir, "registry.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	plans := printing{make(chan string, 1)}
	g, err := gateway.New(gateway.Options{Registry: devices, Catalog: testCatalog(), Signaller: plans, Token: sharedToken, AutoApprove: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 2)
	go func() { ended <- g.Run(ctx) }()
	server := httptest.NewServer(g.Handler())

	connected := make(chan struct{}, 1)
	tasks := accepting{make(chan wire.Task, 1)}
	robot, err := device.Open(device.Options{URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/", Token: sharedToken, StateDir: filepath.Join(dir, "robot"),
		Commands: []string{wire.CommandSubmitTask}, StoreID: "store-1", Handler: tasks, Logger: slog.New(slog.DiscardHandler),
		OnState: func(s device.State) {
			if s.Connected {
				connected <- struct{}{}
			}
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { ended <- robot.Run(ctx) }()
	<-connected

	route, ok, err := devices.Route(ctx, robot.DeviceID())
	fmt.Println("connected here:", route.TaskQueue == g.TaskQueue(), ok, err)
	answer, err := g.Submit(ctx, plan.Submit{Route: route, DeviceID: robot.DeviceID(), OperationID: "p-1/move/1", PlanID: "p-1", StepID: "move",
		TaskMethod: "setMoveTo", CompletionTarget: "movement.arrived", TTLMs: 30_000})
	fmt.Println(answer.Delivery, answer.TaskID, err)

	task := <-tasks.seen
	_, err = robot.Emit(ctx, device.TaskEvent(wire.TaskEvent{EventName: "COMPLETED", TaskMethod: task.TaskMethod, Trace: task.Trace,
		Result: map[string]any{"area_id": "6", "camera_frame": "..."}}))
	fmt.Print("emitted ", err, "\n", <-plans.got)

	stop()
	for range 2 {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			fmt.Println(err)
		}
	}
	server.Close()
	fmt.Println("closed", devices.Close(), os.RemoveAll(dir))
	// Output:
	// connected here: true true <nil>
	// accepted t-1 <nil>
	// emitted <nil>
	// plan p-1 hears COMPLETED once: true map[area_id:6]
	// closed <nil> <nil>
}
