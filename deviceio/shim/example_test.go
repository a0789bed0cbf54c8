package shim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"errand/deviceio/device"
	"errand/deviceio/shim"
	"errand/deviceio/wire"
)

// fan is a vendor's plain TaskManager: it does what it is told, and remembers nothing.
type fan struct{ turned int }

func (f *fan) SubmitTask(context.Context, wire.Task) (wire.SubmitAnswer, error) {
	f.turned++
	return wire.SubmitAnswer{Accepted: true, TaskID: fmt.Sprint(f.turned), TaskState: wire.TaskRunning}, nil
}

func (f *fan) GetTaskStatus(context.Context, string) (shim.VendorStatus, error) {
	return shim.VendorStatus{}, nil
}

func (f *fan) CancelTask(context.Context, string, string) (shim.VendorCancel, error) {
	return shim.VendorCancel{NotFound: true}, nil
}

func (f *fan) GetDevicePlanningContext(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"task_manager":{"available":true,"tasks":[]}}`), nil
}

// A whole device: the vendor, the shim, and the client that holds its outbox. Run and Watch are left out here.
func Example() {
	dir, err := os.MkdirTemp("", "shim-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of the example alone
	ctx, vendor := context.Background(), &fan{}
	s, err := shim.Open(shim.Options{StateDir: dir, Vendor: vendor})
	if err != nil {
		panic(err)
	}
	client, err := device.Open(device.Options{URL: "wss://gateway.example/", StateDir: dir, Handler: s, Commands: shim.Commands(),
		Profile: s.Profile(), StoreID: s.StoreID(), RetentionS: int64(shim.Retention.Seconds())})
	if err != nil {
		panic(err)
	}
	if err := s.Attach(ctx, client); err != nil {
		panic(err)
	}
	// From here on: go client.Run(ctx), go s.Watch(ctx).

	turn := wire.Task{TaskMethod: "turnFan", Trace: wire.Trace{OperationID: "plan/turn/1", CloudPlanID: "plan", CloudStepID: "turn"}}
	for range 2 {
		answer, err := s.Submit(ctx, turn)
		fmt.Println("accepted:", answer.Accepted, "turned:", vendor.turned, err)
	}
	got, err := s.Event(ctx, json.RawMessage(`{"event_name":"COMPLETED","task_id":"1","cloud_step_id":"turn"}`))
	fmt.Println("event of", got.OperationID, err)
	status, err := s.Status(ctx, wire.StatusQuery{OperationID: "plan/turn/1"})
	fmt.Println(status.Status, status.TerminalEvent.TaskMethod, err)
	// Output:
	// accepted: true turned: 1 <nil>
	// accepted: true turned: 1 <nil>
	// event of plan/turn/1 <nil>
	// COMPLETED turnFan <nil>
}
