package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/worker"

	"errand/catalog"
	"errand/plan"
	"errand/plan/router"
)

// Planner turns utterances into plans. It matches them against the catalog's routines; no model is asked.
type Planner struct {
	catalog *catalog.Catalog
	whole   catalog.Slice
}

// NewPlanner plans with the given catalog.
func NewPlanner(c *catalog.Catalog) *Planner { return &Planner{catalog: c, whole: c.Whole()} }

// Register makes the activity known to a worker.
func (p *Planner) Register(w worker.ActivityRegistry) { register(w, plan.ActivityPlan, p.Plan) }

// Plan answers with a document and the slice of the catalog it uses, or with an honest sentence why there is none.
func (p *Planner) Plan(_ context.Context, c plan.MakePlan) (plan.Planned, error) {
	matched, err := router.Match(p.catalog, router.Utterance{Text: c.Utterance.Text, Locale: c.Locale, Rooms: plan.RoomsOf(c.Context)})
	if err != nil {
		return p.noPlan(c, err), nil
	}
	ids := make([]string, len(matched.Document.Steps))
	for i, step := range matched.Document.Steps {
		ids[i] = step.Action.CapabilityID
	}
	slice := p.catalog.Slice(ids)
	return plan.Planned{Document: &matched.Document, Slice: &slice}, nil
}

func (p *Planner) noPlan(c plan.MakePlan, err error) plan.Planned {
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
	}
	return plan.Planned{Sentence: router.Explain(p.catalog, err, c.Locale), Report: &report}
}
