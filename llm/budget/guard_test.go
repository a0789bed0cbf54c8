package budget_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"errand/llm"
	"errand/llm/budget"
)

// model answers as it is told, and counts how often it was asked.
type model struct {
	answer llm.Response
	err    error
	asked  int
}

func (m *model) Generate(context.Context, llm.Request) (llm.Response, error) {
	m.asked++
	return m.answer, m.err
}

func question(plan string) llm.Request {
	return llm.Request{PlanID: plan, Contents: []string{"?"}, Limits: llm.Limits{MaxOutputTokens: 100}}
}

func november() time.Time { return time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC) }

// Law 13: a plan has a budget, and what it may not spend is refused before the model is asked.
func TestLaw13APlanMaySpendItsBudgetAndNoMore(t *testing.T) {
	t.Parallel()
	m := &model{answer: llm.Response{Text: "a", Meta: llm.Meta{Usage: llm.Usage{Total: 10}}}}
	guard := budget.Guard(m, budget.Options{PerPlan: budget.Limits{Calls: 2}, Now: november})
	for range 2 {
		if answer, err := guard.Generate(t.Context(), question("p")); err != nil || answer.Text != "a" {
			t.Fatalf("got %v, %v", answer, err)
		}
	}
	_, err := guard.Generate(t.Context(), question("p"))
	var refusal *budget.Refusal
	if llm.KindOf(err) != llm.BudgetSpent || !errors.As(err, &refusal) || refusal.Account.Name != "plan/p" || m.asked != 2 {
		t.Errorf("got %v after %d calls", err, m.asked)
	}
	if _, err := guard.Generate(t.Context(), question("another")); err != nil {
		t.Errorf("another plan has a budget of its own: %v", err)
	}
}

// Law 13: a call that fails, or whose answer is of no use, spends the budget as well.
func TestLaw13AFailedCallSpendsTheBudget(t *testing.T) {
	t.Parallel()
	for _, kind := range llm.Kinds() {
		m := &model{err: &llm.Error{Kind: kind}}
		guard := budget.Guard(m, budget.Options{PerPlan: budget.Limits{Calls: 1}})
		if _, err := guard.Generate(t.Context(), question("p")); llm.KindOf(err) != kind {
			t.Errorf("%s became %v", kind, err)
		}
		if _, err := guard.Generate(t.Context(), question("p")); llm.KindOf(err) != llm.BudgetSpent || m.asked != 1 {
			t.Errorf("%s: the second call is %v, the model was asked %d times", kind, err, m.asked)
		}
	}
}

// The month is everybody's: plans and calls without one. It begins anew by the calendar.
func TestAMonthIsSharedAndBeginsAnew(t *testing.T) {
	t.Parallel()
	m := &model{answer: llm.Response{Text: "a", Meta: llm.Meta{Usage: llm.Usage{Total: 150}}}}
	now := november()
	guard := budget.Guard(m, budget.Options{Monthly: budget.Limits{Tokens: 400}, Now: func() time.Time { return now }})
	for _, plan := range []string{"p", ""} {
		if _, err := guard.Generate(t.Context(), question(plan)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := guard.Generate(t.Context(), question("q"))
	if llm.KindOf(err) != llm.BudgetSpent || !strings.Contains(err.Error(), "month/2026-11") || !strings.Contains(err.Error(), "2026-12-01") {
		t.Errorf("got %v", err)
	}
	now = now.Add(2 * time.Minute)
	if _, err := guard.Generate(t.Context(), question("q")); err != nil {
		t.Errorf("in December: %v", err)
	}
	plan, month, err := guard.Spent(t.Context(), "q")
	if err != nil || plan != (budget.Spent{Calls: 1, Tokens: 150}) || month != plan {
		t.Errorf("spent %+v, %+v, %v", plan, month, err)
	}
}

// Before a call its tokens are held, afterwards the truth counts; where nobody knows it, the hold stays.
func TestTheTruthTakesThePlaceOfTheHold(t *testing.T) {
	t.Parallel()
	held := budget.Estimate(question("p"))
	used := llm.Meta{Usage: llm.Usage{Total: 9}}
	for name, c := range map[string]struct {
		model model
		want  int
	}{
		"an answer":                  {model{answer: llm.Response{Meta: used}}, 9},
		"an answer without a count":  {model{answer: llm.Response{Text: "a"}}, held},
		"blocked, and what it cost":  {model{err: &llm.Error{Kind: llm.Blocked, Meta: used}}, 9},
		"malformed without a count":  {model{err: &llm.Error{Kind: llm.Malformed}}, held},
		"nobody answered in time":    {model{err: &llm.Error{Kind: llm.TimedOut}}, held},
		"the caller gave up":         {model{err: &llm.Error{Kind: llm.Canceled}}, held},
		"an error that nobody knows": {model{err: errors.New("other")}, held},
		"overloaded":                 {model{err: &llm.Error{Kind: llm.Unavailable}}, 0},
		"rate limited":               {model{err: &llm.Error{Kind: llm.RateLimited}}, 0},
		"a wrong key":                {model{err: &llm.Error{Kind: llm.Denied}}, 0},
	} {
		guard := budget.Guard(&c.model, budget.Options{Now: november})
		_, err := guard.Generate(t.Context(), question("p"))
		if !errors.Is(err, c.model.err) {
			t.Errorf("%s: got %v", name, err)
		}
		if plan, _, err := guard.Spent(t.Context(), "p"); err != nil || plan != (budget.Spent{Calls: 1, Tokens: c.want}) {
			t.Errorf("%s: spent %+v, %v; want %d tokens", name, plan, err, c.want)
		}
	}
}

func TestTheHoldIsAllThatACallMayCost(t *testing.T) {
	t.Parallel()
	r := llm.Request{Instructions: "abc", Contents: []string{"안방", "x"}, Limits: llm.Limits{MaxOutputTokens: 50}}
	if got := budget.Estimate(r); got != 50+4 { // ten bytes
		t.Errorf("got %d", got)
	}
	m := &model{}
	guard := budget.Guard(m, budget.Options{PerPlan: budget.Limits{Tokens: 53}})
	if _, err := guard.Generate(t.Context(), llm.Request{PlanID: "p", Instructions: r.Instructions, Contents: r.Contents, Limits: r.Limits}); llm.KindOf(err) != llm.BudgetSpent || m.asked != 0 {
		t.Errorf("got %v", err)
	}
}

// broken is a store whose disk is full, or from the second call on.
type broken struct {
	*budget.Memory
	take, correct error
}

func (b broken) Take(ctx context.Context, s budget.Spent, a ...budget.Account) error {
	if b.take != nil {
		return b.take
	}
	return b.Memory.Take(ctx, s, a...)
}

func (b broken) Correct(context.Context, budget.Spent, ...budget.Account) error { return b.correct }

// A budget that cannot be read allows nothing; one that cannot be set right afterwards says so, and the answer stands.
func TestABudgetThatCannotBeKeptIsNotPassedOver(t *testing.T) {
	t.Parallel()
	m := &model{answer: llm.Response{Text: "a", Meta: llm.Meta{Usage: llm.Usage{Total: 1}}}}
	full := errors.New("disk full")
	_, err := budget.Guard(m, budget.Options{Store: broken{take: full}}).Generate(t.Context(), question("p"))
	if llm.KindOf(err) != llm.Unavailable || !errors.Is(err, full) || m.asked != 0 {
		t.Errorf("got %v after %d calls", err, m.asked)
	}
	var log bytes.Buffer
	guard := budget.Guard(m, budget.Options{Store: broken{Memory: budget.NewMemory(), correct: full}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if answer, err := guard.Generate(t.Context(), question("p")); err != nil || answer.Text != "a" {
		t.Errorf("got %v, %v", answer, err)
	}
	if !strings.Contains(log.String(), "disk full") || !strings.Contains(log.String(), "plan/p") {
		t.Errorf("the log says %q", log.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = budget.Guard(m, budget.Options{Store: broken{take: context.Canceled}}).Generate(ctx, question("p"))
	if llm.KindOf(err) != llm.Canceled {
		t.Errorf("got %v", err)
	}
}
