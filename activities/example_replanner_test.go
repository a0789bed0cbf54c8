package activities_test

import (
	"context"
	"fmt"

	"errand/activities"
	"errand/catalog/load"
	"errand/llm/gemini"
	"errand/llm/standin"
	"errand/plan"
)

// A step failed, and the model decides what becomes of the plan. Here a stand-in does, by its rules.
func ExampleReplanner() {
	ctx := context.Background()
	server := standin.New(standin.Options{})
	url, err := server.Start(ctx, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	model, err := gemini.New(ctx, gemini.Options{Key: "any", Model: "gemini-2.5-flash", Endpoint: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()

	replanner := activities.NewReplanner(load.Builtin(), model)
	decided, err := replanner.Decide(ctx, plan.Decide{Locale: "en", Left: 5,
		Boundary: plan.Boundary{StepID: "move", Report: plan.Report{Code: "BATTERY_LOW", RequiresDecision: true}},
		View:     plan.View{PlanID: "p", Steps: []plan.StepView{{ID: "move", CapabilityID: "move_to_room", State: plan.StepFailed}}},
		Options:  []plan.DecisionKind{plan.DecideCancel, plan.DecideReplan, plan.DecideRetry, plan.DecideReturn}})
	fmt.Println(decided.Decision, decided.TTSResponse, decided.LLMCalls, err)
	// Output: return I am going back to my station. 1 <nil>
}
