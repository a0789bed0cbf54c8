package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"errand/activities/prompt"
	"errand/internal/border"
	"errand/llm"
	"errand/plan"
)

// mostPlans is how often a model may propose a plan for one wish: once, and once more with the faults of the first.
const mostPlans = 2

// PlanByModel asks the model for a plan of what no routine takes. A plan that does not pass the gate goes back once, with
// its faults; what still does not is no plan, and the person is asked to say it otherwise.
//
// An error is one that may pass by itself, and is Temporal's to try again. Every other end is an answer.
func (p *Planner) PlanByModel(ctx context.Context, c plan.MakePlan) (plan.Planned, error) {
	setting := prompt.NewSetting(p.whole, c.Context, time.Now().UnixMilli())
	if len(setting.Offered) == 0 {
		return plan.Planned{Sentence: p.sentence(c, "no_plan"), Notes: notes(setting.Note()),
			Report: &plan.Report{Code: "NO_PLAN", Detail: "the device offers nothing that a plan could use"}}, nil
	}
	a := newAsking(ctx, p.model)
	request := prompt.Plan(&setting, prompt.Wish{PlanID: c.PlanID, Text: c.Utterance.Text, Locale: c.Locale, Extends: c.Extends})
	var refused border.Faults
	tell := []string{setting.Note()}
	for range mostPlans {
		answer, err := a.ask(ctx, request)
		if kind := llm.KindOf(err); err != nil && (!kind.Answered() || kind == llm.Blocked) {
			return p.unasked(c, a, err, tell)
		}
		proposal, faults := proposed(&setting, answer, err, c.DeviceID)
		if len(faults) == 0 {
			return p.proposal(c, a, proposal, tell), nil
		}
		refused = faults
		tell = append(tell, "the model's plan was refused: "+oneLine(faults))
		request = prompt.Again(request, answer.Text, faults)
	}
	return plan.Planned{LLMCalls: a.calls, Notes: notes(append(tell, a.note())...), Sentence: p.sentence(c, "plan_unsure"),
		Report: &plan.Report{Code: "PLAN_INVALID", Detail: "the model's plan did not pass the gate, twice: " + oneLine(refused)}}, nil
}

// proposed reads an answer and holds it against the gate. One that is none, being empty, cut off or malformed, has that as
// its fault.
func proposed(s *prompt.Setting, answer llm.Response, err error, deviceID string) (prompt.Proposal, border.Faults) {
	if failure := failureOf(err); failure != nil {
		return prompt.Proposal{}, border.Faults{{Code: string(failure.Kind), Message: failure.Detail}}
	}
	proposal, faults := prompt.ReadPlan(answer.Text)
	if len(faults) == 0 && len(proposal.Document.Steps) > 0 {
		faults = s.Faults(proposal.Document, deviceID)
	}
	return proposal, faults
}

// proposal is the answer for what passed: a plan, or none, with a sentence of the catalog's. What the model would say
// itself is told to nobody (law 20).
func (p *Planner) proposal(c plan.MakePlan, a *asking, proposal prompt.Proposal, tell []string) plan.Planned {
	var out plan.Planned
	switch {
	case len(proposal.Document.Steps) > 0:
		out = p.planned(proposal.Document)
		out.FromModel = true
	case proposal.Unplanned == prompt.RoomUnclear && len(plan.RoomsOf(c.Context)) > 0:
		out = plan.Planned{Sentence: p.sentence(c, "which_room"), Report: &plan.Report{Code: "CANNOT_GROUND", Detail: "the model cannot tell which room is meant"}}
	default:
		out = plan.Planned{Sentence: p.sentence(c, "no_plan"), Report: &plan.Report{Code: "NO_PLAN", Detail: "no routine takes the sentence, and the model has no plan for it"}}
	}
	out.LLMCalls, out.Notes = a.calls, notes(append(tell, a.note())...)
	return out
}

// unasked is the end of a call that brought no answer: an error for what may pass, else why there is no plan.
func (p *Planner) unasked(c plan.MakePlan, a *asking, err error, tell []string) (plan.Planned, error) {
	kind := llm.KindOf(err)
	if kind == "" || kind == llm.Canceled || kind.Retryable() {
		return plan.Planned{}, a.failed(err)
	}
	sentence := "no_model"
	switch kind {
	case llm.Blocked:
		sentence = "model_refused"
	case llm.QuotaSpent, llm.BudgetSpent:
		sentence = "model_spent"
	default: // a person must set it right; for the one who spoke there is no model
	}
	return plan.Planned{LLMCalls: a.calls, Notes: notes(append(tell, a.note())...), Sentence: p.sentence(c, sentence),
		Report: &plan.Report{Code: modelCode(kind), Detail: "no routine takes the sentence, and the model gave no plan: " + err.Error()}}, nil
}

// modelCode is the reason code of a model's failure: MODEL_DENIED.
func modelCode(kind llm.Kind) string { return "MODEL_" + strings.ToUpper(string(kind)) }

func failureOf(err error) *llm.Error {
	var failure *llm.Error
	if errors.As(err, &failure) {
		return failure
	}
	return nil
}

// notes are those that say something.
func notes(texts ...string) (said []string) {
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	return said
}

// mostNoted bounds what a record quotes of the faults.
const mostNoted = 600

func oneLine(faults border.Faults) string {
	text := []rune(strings.ReplaceAll(faults.Error(), "\n", "; "))
	if len(text) > mostNoted {
		return fmt.Sprintf("%s… (%d faults)", string(text[:mostNoted]), len(faults))
	}
	return string(text)
}
