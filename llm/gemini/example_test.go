package gemini_test

import (
	"context"
	"fmt"

	"errand/llm"
	"errand/llm/gemini"
	"errand/llm/standin"
)

// A question with a schema gets a JSON value, or an error that says what to do.
func Example() {
	ctx := context.Background()
	server := standin.New(standin.Options{}) // in the place of Google's
	url, err := server.Start(ctx, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server.Script(standin.Answer(`{"decision":"ask"}`), standin.RateLimited(1500_000_000))

	model, err := gemini.New(ctx, gemini.Options{Key: "from your settings", Model: "gemini-2.5-flash", Endpoint: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	question := llm.Request{Instructions: "Decide.", Contents: []string{`{"reason_code":"PATH_BLOCKED"}`},
		Schema: &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"decision": {Type: llm.String}}}}
	answer, err := model.Generate(ctx, question)
	fmt.Println(answer.Text, err)
	_, err = model.Generate(ctx, question)
	fmt.Println(err)
	fmt.Println("closed:", model.Close(), server.Close())
	// Output:
	// {"decision":"ask"} <nil>
	// the model gemini-2.5-flash: rate_limited (HTTP 429): You exceeded your current quota, please check your plan and billing details.; try again after 1.5s
	// closed: <nil> <nil>
}
