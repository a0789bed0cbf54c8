package activities

import (
	"context"
	"time"

	"errand/activities/prompt"
	"errand/catalog"
	"errand/llm"
	"errand/plan"
)

// Replanner is the decider that asks a model (contract.md §7). It is asked at a boundary and nowhere else (law 12), and what
// it answers is a proposal: the machine's gate judges it, as it does every other.
type Replanner struct {
	catalog *catalog.Catalog
	whole   catalog.Slice
	model   llm.Model
}

var _ Decider = (*Replanner)(nil)

// NewReplanner decides with the given catalog, and asks the given model; with llm.None the reason table decides.
func NewReplanner(c *catalog.Catalog, model llm.Model) *Replanner {
	return &Replanner{catalog: c, whole: c.Whole(), model: model}
}

// Decide asks the model once. What may pass by itself is an error, and Temporal's to try again; every other end is an answer:
// without a decision in it the reason table's default counts, and one of the plan's decisions is spent (law 13).
func (r *Replanner) Decide(ctx context.Context, c plan.Decide) (plan.Decided, error) {
	setting := prompt.NewSetting(r.whole, c.Context, time.Now().UnixMilli())
	request := prompt.Decision(&setting, c)
	a := newAsking(ctx, r.model)
	answer, err := a.ask(ctx, request)
	if kind := llm.KindOf(err); err != nil && (kind == "" || kind == llm.Canceled || kind.Retryable()) {
		return plan.Decided{}, a.failed(err)
	}
	told := notes(setting.Note(), a.note())
	if err != nil {
		return plan.Decided{Reason: "no decision: " + err.Error(), LLMCalls: a.calls, Notes: told}, nil
	}
	d, faults := prompt.ReadDecision(answer.Text, c.Options)
	if len(faults) > 0 {
		return plan.Decided{Reason: "the model's answer was refused: " + oneLine(faults), LLMCalls: a.calls, Notes: told}, nil
	}
	if len(d.Steps) > 0 {
		slice := r.catalog.Slice(offered(&setting, d.Steps))
		d.Slice = &slice
	}
	d.LLMCalls, d.Notes = a.calls, told
	return d, nil
}

// offered are the capabilities of steps that may be used here and now. What is not among them is unknown to the gate, unless
// the plan had it before.
func offered(s *prompt.Setting, steps []plan.StepSpec) (ids []string) {
	for _, c := range s.Offered {
		for _, step := range steps {
			if step.Action.CapabilityID == c.ID {
				ids = append(ids, c.ID)
				break
			}
		}
	}
	return ids
}
