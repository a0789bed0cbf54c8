// Package budget keeps what language models cost within bounds: calls and tokens, for each plan and for each month.
//
//	store, err := budget.Open(ctx, ".errand/budget.db")
//	model = budget.Guard(model, budget.Options{Store: store,
//		PerPlan: budget.Limits{Calls: 10, Tokens: 50_000}, Monthly: budget.Limits{Tokens: 5_000_000}})
//
// The guard refuses a call before it is made (llm.BudgetSpent, with a *Refusal that says which budget, how far it is spent,
// and when there is room again). How it counts:
//
//   - Every call that is made counts, whatever comes of it, and every try of Temporal's is a call: a model that is down, or
//     talks nonsense, spends a plan's budget too, and so cannot be asked for ever (law 13).
//   - Before a call, its tokens are held: all it may answer, and a guess at what it asks. Afterwards the truth takes the
//     hold's place. Where the truth is not known, since nobody answered or the process died, the hold stays: the model may
//     have worked, and the bill will tell.
//   - A month is a calendar month in UTC. A call without a plan counts for the month alone.
//
// The bounds are firm as far as the guess is one from above: the tokens of several calls at once are all held. Memory keeps
// the accounts of one process, File those of all processes on a machine.
package budget
