package plan

import (
	"errand/catalog"
	"errand/catalog/fresh"
)

// contextTries is how often a context is fetched before planning goes on without one.
const contextTries = 3

// planNext moves planning on: a context first (the utterance's, else the device's), then the planner (design §6 Planning).
func (m *machine) planNext() {
	s := &m.s
	if s.Document != nil || m.stopping() || s.Planner.Asked || s.Planner.Fetching {
		return
	}
	if s.Planner.Context == nil && s.Planner.Tries < contextTries {
		if s.Device.Route != nil {
			s.Planner.Fetching = true
			m.do(FetchContext{Route: *s.Device.Route, DeviceID: s.Start.DeviceID})
		}
		return
	}
	s.Planner.Asked = true
	m.do(MakePlan{PlanID: s.Start.PlanID, DeviceID: s.Start.DeviceID, Locale: s.Start.Locale,
		Utterance: *s.Start.Utterance, Context: s.Planner.Context})
}

func (m *machine) contextFetched(in ContextFetched) {
	if m.s.Looking {
		m.looked(in)
		return
	}
	if !m.s.Planner.Fetching {
		return
	}
	m.s.Planner.Fetching = false
	if in.Context == nil {
		m.s.Planner.Tries++
		m.note("", "no device context: "+in.Detail)
		m.refute(in.ConnectionEpoch)
		return
	}
	m.s.Planner.Context = fresh.AsTold(in.Context, m.at)
}

func (m *machine) planned(in Planned) {
	if !m.s.Planner.Asked {
		return
	}
	m.s.Planner.Asked = false
	m.s.LLMCalls += in.LLMCalls
	for _, text := range in.Notes {
		m.note("", text)
	}
	if m.s.Document != nil {
		m.extended(in)
		return
	}
	if m.stopping() {
		return
	}
	if in.Document == nil || in.Slice == nil {
		report := in.Report
		if report == nil {
			report = &Report{Code: "NO_PLAN"}
		}
		m.s.Planner.Sentence = in.Sentence
		m.end(Failed, report)
		return
	}
	m.adopt(*in.Document, *in.Slice, in.FromModel)
	for i := range m.s.Steps {
		m.s.Steps[i].FromModel = in.FromModel
	}
}

// adopt takes a document through the one gate that every plan passes (law 14).
func (m *machine) adopt(doc Document, slice catalog.Slice, fromModel bool) {
	faults := Validate(doc, &slice, Grounding{DeviceID: m.s.Start.DeviceID, Rooms: RoomsOf(m.s.Planner.Context), By: m.s.startedBy(fromModel)})
	if fromModel {
		faults = append(faults, Claims(doc.Steps, &slice)...)
	}
	if len(faults) > 0 {
		m.end(Failed, &Report{Code: "PLAN_INVALID", Detail: faults.Error()})
		return
	}
	m.s.Document, m.s.Slice, m.s.Revision = &doc, &slice, 1
	m.s.Steps = newSteps(doc.Steps)
}

// startedBy says who puts steps in the plan.
func (s *State) startedBy(fromModel bool) string {
	switch {
	case fromModel:
		return catalog.StartedByModel
	case s.Document == nil && s.Start.Saw != nil:
		return catalog.StartedByWatch
	}
	return catalog.StartedByPerson
}

func newSteps(specs []StepSpec) []StepState {
	steps := make([]StepState, len(specs))
	for i, spec := range specs {
		steps[i] = StepState{ID: spec.ID, Phase: StepPending}
	}
	return steps
}

// RoomsOf reads the room catalog out of a device_context.v1; nil if it has none that is available.
func RoomsOf(context map[string]any) []catalog.Room {
	area, _ := context["map"].(map[string]any)
	if available, ok := area["available"].(bool); ok && !available {
		return nil
	}
	list, _ := area["rooms"].([]any)
	var rooms []catalog.Room
	for _, item := range list {
		room, _ := item.(map[string]any)
		id, _ := room["id"].(string)
		name, _ := room["name"].(string)
		if id != "" && name != "" {
			rooms = append(rooms, catalog.Room{ID: id, Name: name})
		}
	}
	return rooms
}
