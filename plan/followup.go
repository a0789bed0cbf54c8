package plan

import (
	"strings"
	"unicode/utf8"

	"errand/internal/border"
)

const (
	// maxFollowUps bounds the follow-ups that wait to be planned.
	maxFollowUps = 4
	// maxFollowUp bounds the text of one, in characters: as long as an utterance may be.
	maxFollowUp = 1000
)

// FollowUp is what a person wants done after what the plan does already. It is planned like any wish, and what comes of it
// is appended through the gate of an amendment. If nothing comes of it the person is told, and the plan goes on untouched.
type FollowUp struct {
	// Text is the wish without the words that made it a follow-up.
	Text string `json:"text"`
	By   string `json:"by"`
	// Looked says that the device was asked for a fresh context to plan it with.
	Looked bool `json:"looked,omitempty"`
}

// Extending is the plan that a follow-up adds to, for its planner: what is there, and what is done.
type Extending struct {
	View View `json:"view"`
}

func (FollowUp) input() {}

// FollowUpRefusal says why a follow-up would not be taken; "" means that it would.
func (s *State) FollowUpRefusal(in FollowUp) string {
	faults := s.amendable()
	switch {
	case strings.TrimSpace(in.Text) == "":
		return "text is missing: say what is to be done"
	case utf8.RuneCountInString(in.Text) > maxFollowUp:
		return "text is longer than " + itoa(maxFollowUp) + " characters: say it in fewer"
	case len(faults) > 0:
		return faults.Error()
	case len(s.FollowUps) >= maxFollowUps:
		return itoa(maxFollowUps) + " follow-ups wait to be planned already: say it again in a moment"
	}
	return ""
}

func (m *machine) followedUp(in FollowUp) {
	if refusal := m.s.FollowUpRefusal(in); refusal != "" {
		m.note("", "follow-up refused: "+refusal)
		return
	}
	in.Looked = false
	m.s.FollowUps = append(m.s.FollowUps[:len(m.s.FollowUps):len(m.s.FollowUps)], in)
	m.note("", "to be extended by "+in.By)
}

// extend plans the follow-up that waits longest: with a fresh context if the device can be reached, else with the rooms it had.
func (m *machine) extend() {
	s := &m.s
	if len(s.FollowUps) == 0 || m.stopping() || s.Boundary != nil || s.Planner.Asked || s.Planner.Fetching || s.Looking {
		return // at a boundary it is decided first what the plan is
	}
	next := s.FollowUps[0]
	if !next.Looked {
		next.Looked = true
		s.FollowUps = append([]FollowUp{next}, s.FollowUps[1:]...)
		s.Planner.Context = lasting(s.Planner.Context)
		if s.Device.Route != nil {
			s.Planner.Fetching = true
			m.do(FetchContext{Route: *s.Device.Route, DeviceID: s.Start.DeviceID})
			return
		}
	}
	s.Planner.Asked = true
	m.do(MakePlan{PlanID: s.Start.PlanID, DeviceID: s.Start.DeviceID, Locale: s.Start.Locale, Utterance: Utterance{Text: next.Text},
		Context: s.Planner.Context, Extends: &Extending{View: s.View()}})
}

// lasting is what of a context holds though it was read for another moment: the rooms, and what the device can do. How the
// device was then is told to nobody (law 17).
func lasting(context map[string]any) map[string]any {
	kept := map[string]any{}
	for _, area := range []string{"schema_version", "map", "capabilities"} {
		if value, told := context[area]; told {
			kept[area] = value
		}
	}
	return kept
}

// extended takes the planner's answer to a follow-up.
func (m *machine) extended(in Planned) {
	by := m.s.FollowUps[0].By
	if m.s.Boundary != nil && !m.stopping() {
		m.s.FollowUps = append([]FollowUp{{Text: m.s.FollowUps[0].Text, By: by}}, m.s.FollowUps[1:]...)
		m.note("", "a follow-up is planned again once it is decided about step "+m.s.Boundary.StepID)
		return
	}
	m.s.FollowUps = m.s.FollowUps[1:]
	if m.stopping() {
		return // how the plan ends is what the person hears
	}
	if in.Document == nil || in.Slice == nil {
		m.declined(in.Sentence, "nothing came of a follow-up")
		return
	}
	r := revision{steps: m.s.renamed(in.Document.Steps), slice: in.Slice, fromModel: in.FromModel}
	faults := m.s.amendable()
	if len(faults) == 0 {
		faults = m.s.revisionFaults(r)
	}
	if len(faults) > 0 {
		m.declined("", "follow-up refused: "+faults.Error())
		return
	}
	m.revise(r, "extended by "+by)
}

// declined tells the person that the plan goes on without what was said.
func (m *machine) declined(sentence, note string) {
	m.note("", note)
	m.do(Say{Route: m.s.Device.Route, DeviceID: m.s.Start.DeviceID, HomeID: m.s.Start.HomeID, Locale: m.s.Start.Locale,
		Text: orText(sentence, m.s.sentence("follow_up_refused", nil))})
}

// amendable says why nothing can be added to the plan now; none means that it can.
func (s *State) amendable() border.Faults {
	if s.Document == nil || s.Slice == nil || s.Outcome != nil || s.Cancel != nil || s.Ending != nil || s.Returning != nil {
		return border.Faults{{Code: "not_amendable", Message: "the plan is not running"}}
	}
	if s.Boundary != nil {
		return border.Faults{{Code: "not_amendable", Message: "the plan waits for a decision about step " + s.Boundary.StepID + ": decide that first"}}
	}
	return nil
}

// renamed gives the steps of another document names that the plan has never used: a planner may call its steps as it likes.
// What refers to one of them follows; what refers to the plan's own steps stays.
func (s *State) renamed(steps []StepSpec) []StepSpec {
	n := newNames(s.Document.Steps)
	out := make([]StepSpec, len(steps))
	for i, spec := range steps {
		spec.ID, spec.OutputKey = n.fresh(spec.ID), n.fresh(spec.OutputKey)
		out[i] = spec
	}
	for i := range out {
		n.follow(&out[i])
	}
	return out
}

// names are those that a plan used, and what others are called instead.
type names struct {
	taken   map[string]bool
	instead map[string]string
}

func newNames(used []StepSpec) names {
	n := names{taken: map[string]bool{}, instead: map[string]string{}}
	for _, spec := range used {
		n.taken[spec.ID], n.taken[spec.OutputKey] = true, true
	}
	return n
}

// fresh is the name itself if it is free, else that with a number.
func (n names) fresh(name string) string {
	if name == "" || n.instead[name] != "" {
		return n.instead[name]
	}
	free := name
	for k := 2; n.taken[free]; k++ {
		free = name + "_" + itoa(k)
	}
	n.taken[free], n.instead[name] = true, free
	return free
}

// follow lets a step refer to others by their new names.
func (n names) follow(spec *StepSpec) {
	var after []string
	for _, id := range spec.DependsOn {
		after = append(after, orText(n.instead[id], id))
	}
	var from map[string]string
	for _, slot := range sortedKeys(spec.InputFrom) {
		if from == nil {
			from = map[string]string{}
		}
		source, field, _ := strings.Cut(spec.InputFrom[slot], ".")
		from[slot] = strings.TrimSuffix(orText(n.instead[source], source)+"."+field, ".")
	}
	spec.DependsOn, spec.InputFrom = after, from
}
