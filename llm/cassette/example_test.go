package cassette_test

import (
	"context"
	"fmt"
	"os"

	"errand/llm"
	"errand/llm/cassette"
)

// An exchange is recorded once with a live model, and played from then on without one.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cassette")
	if err != nil {
		fmt.Println(err)
		return
	}
	live := &model{answer: llm.Response{Text: `{"room":"Anna's room"}`}}
	question := llm.Request{Instructions: "Plan.", Contents: []string{"go to Anna's room"}, Personal: []string{"Anna's room"}}
	if _, err := cassette.Record(live, dir).Generate(ctx, question); err != nil {
		fmt.Println(err)
		return
	}

	player, err := cassette.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := player.Generate(ctx, question)
	fmt.Println(answer.Text, err)
	question.Contents[0] = "go to Bert's room"
	_, err = player.Generate(ctx, question)
	fmt.Println(llm.KindOf(err))
	fmt.Println("calls of the live model:", live.asked, "cleaned up:", os.RemoveAll(dir) == nil)
	// Output:
	// {"room":"Anna's room"} <nil>
	// unrecorded
	// calls of the live model: 1 cleaned up: true
}
