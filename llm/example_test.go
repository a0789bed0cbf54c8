package llm_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"errand/llm"
)

// What is asked of a model, and how a caller reads the end of a call.
func ExampleModel() {
	var model llm.Model = llm.None{Hint: "name one in the settings"} // gemini.New, openai.New, or a stack of wrappers
	answer, err := model.Generate(context.Background(), llm.Request{
		Instructions: "Decide what to do at this boundary.",
		Contents:     []string{`{"reason_code":"PATH_BLOCKED"}`},
		Schema: &llm.Schema{Type: llm.Object, Required: []string{"decision"}, Properties: map[string]*llm.Schema{
			"decision": {Type: llm.String, Enum: []string{"retry", "ask", "cancel"}}}},
		Limits: llm.Limits{Timeout: 10 * time.Second},
		PlanID: "plan-1", Purpose: "decide",
	})
	switch kind := llm.KindOf(err); {
	case err == nil:
		fmt.Println("an answer, still to be validated:", answer.Text)
	case kind.Retryable():
		fmt.Println("later:", err)
	case kind.Answered():
		fmt.Println("no use asking the same again:", err)
	default:
		fmt.Println("a person must act:", err)
	}
	// Output: a person must act: the model: unconfigured: no model is set up: name one in the settings
}

func ExampleObserve() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	model := llm.Observe(llm.None{}, func(_ context.Context, c llm.Call) {
		log.Info("model call", "purpose", c.Purpose, "end", c.Kind, "tokens", c.Usage.Total)
	})
	if _, err := model.Generate(context.Background(), llm.Request{Purpose: "plan"}); err == nil {
		fmt.Println("None answered")
	}
	// Output: level=INFO msg="model call" purpose=plan end=unconfigured tokens=0
}
