package activities

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/sdk/worker"

	"errand/catalog"
	"errand/llm"
	"errand/plan"
	"errand/plan/router"
)

// Planner turns utterances into plans: by the catalog's routines, and where none takes the whole sentence by a model.
//
// The two are two activities, so that a plan's history shows whether a model was asked: on the normal path none is
// (law 12), and PlanByModel is not in it.
type Planner struct {
	catalog *catalog.Catalog
	whole   catalog.Slice
	model   llm.Model
}

// NewPlanner plans with the given catalog, and asks the given model; llm.None asks nobody.
func NewPlanner(c *catalog.Catalog, model llm.Model) *Planner {
	return &Planner{catalog: c, whole: c.Whole(), model: model}
}

// Register makes the activities known to a worker.
func (p *Planner) Register(w worker.ActivityRegistry) {
	register(w, plan.ActivityPlan, p.Plan)
	register(w, plan.ActivityPlanByModel, p.PlanByModel)
}

// Plan answers with a routine's document and the slice of the catalog it uses, or with an honest sentence why there is
// none. No model is asked here: ForModel says that one is to be, and the sentence is then for the case that it cannot.
func (p *Planner) Plan(_ context.Context, c plan.MakePlan) (plan.Planned, error) {
	matched, err := router.Match(p.catalog, router.Utterance{Text: c.Utterance.Text, Locale: c.Locale, Rooms: plan.RoomsOf(c.Context),
		Context: freshened(c.Context)})
	if err != nil {
		return p.unmatched(c, err), nil
	}
	return p.planned(matched.Document), nil
}

// planned adds the slice of the catalog that a document uses.
func (p *Planner) planned(doc plan.Document) plan.Planned {
	ids := make([]string, len(doc.Steps))
	for i, step := range doc.Steps {
		ids[i] = step.Action.CapabilityID
	}
	slice := p.catalog.Slice(ids)
	return plan.Planned{Document: &doc, Slice: &slice}
}

// unmatched says why no routine takes a sentence. A room that is not there, or may be one of two, is no matter for a model:
// it could only guess.
func (p *Planner) unmatched(c plan.MakePlan, err error) plan.Planned {
	report := plan.Report{Code: "NO_PLAN", Detail: err.Error()}
	var (
		room      *router.UnknownRoom
		ambiguous *router.AmbiguousRoom
	)
	switch {
	case errors.As(err, &room) && len(room.Known) == 0: // the room may well exist: nobody could read the map
		row := p.whole.Reason("MAP_UNAVAILABLE")
		report.Code = row.Code
		return plan.Planned{Sentence: row.Say.In(c.Locale), Report: &report}
	case errors.As(err, &room):
		report.Code, report.Params = "ROOM_UNKNOWN", map[string]any{"room": room.Said}
	case errors.As(err, &ambiguous):
		report.Code, report.Params = "ROOM_AMBIGUOUS", map[string]any{"room": ambiguous.Said}
	default:
		return plan.Planned{ForModel: true, Sentence: p.sentence(c, "model_down"), Report: &plan.Report{Code: "PLANNER_FAILED", Detail: report.Detail}}
	}
	return plan.Planned{Sentence: router.Explain(p.catalog, err, c.Locale), Report: &report}
}

// sentence is one of the catalog's about planning, with what can be asked for and the rooms there are.
func (p *Planner) sentence(c plan.MakePlan, name string) string {
	rooms := plan.RoomsOf(c.Context)
	names := make([]string, len(rooms))
	for i, room := range rooms {
		names[i] = room.Name
	}
	return catalog.Render(p.catalog.Sentences[name].In(c.Locale), map[string]string{
		"offers": strings.Join(router.Offers(p.catalog, c.Locale), ", "), "known": strings.Join(names, ", ")})
}
