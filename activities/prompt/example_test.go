package prompt_test

import (
	"fmt"

	"errand/activities/prompt"
	"errand/catalog/load"
)

// What a model is asked, and how its answer is held against the gate.
func ExamplePlan() {
	seen := map[string]any{
		"battery": map[string]any{"level": 80.0, "wifi_password": "secret"},
		"map":     map[string]any{"rooms": []any{map[string]any{"id": "6", "name": "안방"}}},
	}
	setting := prompt.NewSetting(load.Builtin().Whole(), seen, 0)
	request := prompt.Plan(&setting, prompt.Wish{PlanID: "p-1", Text: "안방 바닥이 지저분해", Locale: "ko-KR"})
	for _, content := range request.Contents {
		fmt.Println(content)
	}
	proposal, faults := prompt.ReadPlan(`{"steps":[{"id":"clean","depends_on":[],
		"action":{"capability_id":"room_cleaning","operation_id":"start","arguments":{"position_name":"금고"}}}]}`)
	fmt.Println(append(faults, setting.Faults(proposal.Document, "robot-1")...))
	// Output:
	// {"utterance":{"locale":"ko-KR","recognized_text":"안방 바닥이 지저분해"}}
	// {"device_context":{"battery":{"level":80}},"rooms":[{"id":"6","name":"안방"}]}
	// steps[0].action.arguments.position_name: "금고" is not in the device's room catalog (안방)
}
