package budget

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"errand/llm"
)

// Options say what may be spent.
type Options struct {
	// PerPlan bounds what one plan may spend, Monthly what all may spend in a month.
	PerPlan, Monthly Limits
	// Store keeps the accounts; nil means memory.
	Store Store
	// Log is told when an account could not be set right after a call; nil means slog.Default().
	Log *slog.Logger
	// Now is the clock; nil means the system's.
	Now func() time.Time
}

// Guarded is a model that refuses what the budget does not allow.
type Guarded struct {
	model llm.Model
	o     Options
}

var _ llm.Model = (*Guarded)(nil)

// Guard puts a budget before a model.
func Guard(model llm.Model, o Options) *Guarded {
	if o.Store == nil {
		o.Store = NewMemory()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Guarded{model: model, o: o}
}

// Generate asks the model, if the budget allows it.
func (g *Guarded) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	accounts := g.accounts(r.PlanID)
	held := Spent{Calls: 1, Tokens: Estimate(r)}
	if err := g.o.Store.Take(ctx, held, accounts...); err != nil {
		return llm.Response{}, refused(ctx, err)
	}
	answer, err := g.model.Generate(ctx, r)
	g.settle(ctx, accounts, held, answer, err)
	return answer, err
}

// refused is why a call was not made. A budget that cannot be read allows nothing.
func refused(ctx context.Context, err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return &llm.Error{Kind: llm.BudgetSpent, Detail: refusal.Error(), Err: refusal}
	case ctx.Err() != nil:
		return &llm.Error{Kind: llm.Canceled, Detail: "the caller gave up before the model was asked", Err: ctx.Err()}
	}
	return &llm.Error{Kind: llm.Unavailable, Detail: "the budget cannot be read, so the model was not asked: " + err.Error(), Err: err}
}

// settleTime bounds how long an account may take to be set right, though the caller has gone.
const settleTime = 10 * time.Second

// settle puts the truth in the place of what was held. If it cannot, the hold stays, which is on the safe side.
func (g *Guarded) settle(ctx context.Context, accounts []Account, held Spent, answer llm.Response, err error) {
	tokens, known := cost(answer, err)
	if !known || tokens == held.Tokens {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := g.o.Store.Correct(ctx, Spent{Tokens: tokens - held.Tokens}, accounts...); err != nil {
		g.o.Log.Error("the budget keeps the guess of what a model call cost", "account", accounts[0].Name, "held", held.Tokens, "cost", tokens, "error", err)
	}
}

// cost is how many tokens a call cost, if that is known.
func cost(answer llm.Response, err error) (tokens int, known bool) {
	meta := answer.Meta
	kind := llm.KindOf(err)
	var failure *llm.Error
	if errors.As(err, &failure) {
		meta = failure.Meta
	}
	switch {
	case meta.Usage.Total > 0:
		return meta.Usage.Total, true
	case err == nil, kind.Answered(), kind == llm.TimedOut, kind == llm.Canceled, kind == "":
		return 0, false // it worked, or may have, and does not say how much
	}
	return 0, true // it was refused before it began
}

// accounts lists who pays for a call, the plan first.
func (g *Guarded) accounts(planID string) []Account {
	now := g.o.Now().UTC()
	month := Account{Name: "month/" + now.Format("2006-01"), Limit: g.o.Monthly,
		Renewed: time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)}
	if planID == "" {
		return []Account{month}
	}
	return []Account{{Name: "plan/" + planID, Limit: g.o.PerPlan}, month}
}

// Spent tells what a plan and the month have spent, holds included.
func (g *Guarded) Spent(ctx context.Context, planID string) (plan, month Spent, err error) {
	for _, account := range g.accounts(planID) {
		spent, err := g.o.Store.Spent(ctx, account.Name)
		if err != nil {
			return Spent{}, Spent{}, err
		}
		plan, month = month, spent // the month comes last
	}
	return plan, month, nil
}

// Estimate is what a call may cost at most, as far as one can tell without the model: its whole answer, and a token for
// every three bytes of the question. A Hangul syllable is three bytes and about a token; English has four bytes a token.
func Estimate(r llm.Request) int {
	bytes := len(r.Instructions)
	for _, text := range r.Contents {
		bytes += len(text)
	}
	if shape, err := json.Marshal(r.Schema); err == nil && r.Schema != nil {
		bytes += len(shape) // it is sent with the question
	}
	return r.Limits.OrDefaults().MaxOutputTokens + (bytes+2)/3
}
