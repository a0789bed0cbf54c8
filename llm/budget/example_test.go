package budget_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"errand/llm"
	"errand/llm/budget"
)

// One plan may ask twice; what all plans ask counts for the month.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "errand")
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := budget.Open(ctx, filepath.Join(dir, "budget.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := budget.Guard(&model{answer: llm.Response{Text: "yes", Meta: llm.Meta{Usage: llm.Usage{Total: 42}}}},
		budget.Options{Store: store, PerPlan: budget.Limits{Calls: 2}, Monthly: budget.Limits{Tokens: 1_000_000}})
	for range 3 {
		answer, err := guard.Generate(ctx, llm.Request{PlanID: "plan-1", Contents: []string{"?"}})
		fmt.Println(answer.Text, err)
	}
	_, month, err := guard.Spent(ctx, "plan-1")
	fmt.Println(month.Calls, "calls,", month.Tokens, "tokens", err)
	fmt.Println("closed:", store.Close(), os.RemoveAll(dir))
	// Output:
	// yes <nil>
	// yes <nil>
	//  the model: budget_spent: the budget plan/plan-1 allows 2 calls, has spent 2, and this call may need 1
	// 2 calls, 84 tokens <nil>
	// closed: <nil> <nil>
}
