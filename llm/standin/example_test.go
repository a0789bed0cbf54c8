package standin_test

import (
	"context"
	"fmt"

	"errand/llm"
	"errand/llm/gemini"
	"errand/llm/standin"
)

// A test scripts what it wants to happen; what is not scripted is answered by the rule.
func Example() {
	ctx := context.Background()
	server := standin.New(standin.Options{})
	url, err := server.Start(ctx, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := gemini.New(ctx, gemini.Options{Key: "any", Model: "gemini-2.5-flash", Endpoint: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	server.Script(standin.Overloaded(), standin.CutOff(""))
	question := llm.Request{Contents: []string{`{"boundary":{"report":{"reason_code":"BATTERY_LOW"}},"locale":"en"}`},
		Schema: &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"decision": {Type: llm.String}}}}
	for range 3 {
		answer, err := model.Generate(ctx, question)
		fmt.Printf("%q %q\n", answer.Text, llm.KindOf(err))
	}
	fmt.Println(len(server.Questions()), "questions; closed:", model.Close(), server.Close())
	// Output:
	// "" "unavailable"
	// "" "cut_off"
	// "{\"decision\":\"return\"}" ""
	// 3 questions; closed: <nil> <nil>
}
