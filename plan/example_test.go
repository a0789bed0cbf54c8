package plan_test

import (
	"fmt"

	"errand/plan"
)

// The machine by hand: a plan of one step, from its first input to its outcome.
func Example() {
	state := plan.New(plan.Start{PlanID: "p-1", DeviceID: "robot-1", Locale: "en",
		Document: &plan.Document{Steps: []plan.StepSpec{{ID: "go",
			Action: plan.Action{CapabilityID: "move", OperationID: "start", Arguments: map[string]any{"room": "안방"}}}}},
		Slice: testSlice()})
	inputs := []plan.Input{
		plan.Begin{},
		plan.LeaseAnswer{Granted: true},
		plan.DeviceFound{Route: plan.Route{TaskQueue: "deviceio@g1", ConnectionEpoch: 1, StoreID: "s", Profile: plan.Profile{Status: true, Dedupe: true}}},
		plan.Submitted{OperationID: "p-1/go/1", Delivery: plan.DeliveryAccepted, TaskID: "t1", StoreID: "s"},
		plan.Event{EventID: "b-1", DeviceID: "robot-1", Epoch: 1, Seq: 1, Name: plan.EventCompleted, OperationID: "p-1/go/1"},
	}
	for i, in := range inputs {
		var commands []plan.Command
		state, commands = plan.Step(state, int64(1000*i), in)
		fmt.Printf("%T:", in)
		for _, c := range commands {
			fmt.Printf(" %T", c)
		}
		fmt.Println()
	}
	fmt.Println(state.Outcome.State)
	// Output:
	// plan.Begin: plan.RequestLease plan.SetDeadline
	// plan.LeaseAnswer: plan.AwaitDevice
	// plan.DeviceFound: plan.Submit plan.SetDeadline
	// plan.Submitted: plan.SetDeadline
	// plan.Event: plan.ReleaseLease plan.Say plan.Finish
	// completed
}

func ExampleParseOperationID() {
	id, err := plan.ParseOperationID("p-1f0a/move/2")
	fmt.Println(id.Plan, id.Step, id.Generation, err)
	_, err = plan.ParseOperationID("p-1f0a/move/02")
	fmt.Println(err)
	// Output:
	// p-1f0a move 2 <nil>
	// not an operation id: want <plan>/<step>/<generation>, got generation "02"
}

// All faults of a document come at once, each with its path.
func ExampleRead() {
	_, faults := plan.Read([]byte(`{"steps":[
		{"id":"a","action":{"capability_id":"move","operation_id":"fly"}},
		{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"input_from":{"area_id":"a.result.pose"}}]}`),
		testSlice(), plan.Grounding{})
	for _, f := range faults {
		fmt.Println(f)
	}
	// Output:
	// steps[0].action.operation_id: move has no operation "fly"; it has [start]
	// steps[0].action.arguments.room: move needs the slot "room"
	// steps[1].input_from.area_id: "a" must come before: name it in depends_on
	// steps[1].input_from.area_id: move does not give "pose" away; it gives area_id, room_name
}
