package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"errand/catalog"
	"errand/internal/border"
)

// revision is a proposed change of the plan: steps that come after, or in the place of, all that is not frozen.
// What is done or in flight is never touched (law 14).
type revision struct {
	steps     []StepSpec
	slice     *catalog.Slice
	replace   bool
	fromModel bool
	// instead is the id of a step that it takes the place of, though it is under way; "" is none.
	instead string
}

// revisionFaults holds a revision against the gate that every plan passes, and against what is there already.
func (s *State) revisionFaults(r revision) border.Faults {
	var faults border.Faults
	if len(r.steps) == 0 {
		faults = append(faults, border.Fault{Path: "steps", Code: "no_steps", Message: "a revision needs at least one step"})
	}
	// The documents of both are checked as one; paths of faults count the new steps from 0.
	doc := Document{SelectedRoutes: s.Document.SelectedRoutes}
	for i, spec := range s.Document.Steps {
		if s.keeps(i, r.replace) && spec.ID != r.instead {
			doc.Steps = append(doc.Steps, spec)
		} else {
			faults = append(faults, reused(spec, r.steps)...)
		}
	}
	if n := len(s.Steps) + len(r.steps); n > 2*MaxSteps {
		faults = append(faults, border.Fault{Path: "steps", Code: "too_many_steps",
			Message: fmt.Sprintf("with those of earlier revisions the plan would have %d steps, may have %d", n, 2*MaxSteps)})
	}
	kept := len(doc.Steps)
	doc.Steps = append(doc.Steps, r.steps...)
	slice := s.Slice.With(r.slice)
	if r.fromModel {
		faults = append(faults, Claims(r.steps, &slice)...)
	}
	for _, f := range Validate(doc, &slice, Grounding{DeviceID: s.Start.DeviceID, Rooms: RoomsOf(s.Planner.Context), By: s.startedBy(r.fromModel)}) {
		path := renumber(f.Path, kept)
		if f.Code == "not_startable" && path == f.Path && kept > 0 {
			continue // a kept step's: it was put there by somebody else
		}
		if f.Code == "unknown_room" && path == f.Path && kept > 0 {
			continue // a kept step's: the map has changed since it passed the gate, and that is no fault of the revision
		}
		f.Path = path
		faults = append(faults, f)
	}
	return faults
}

// keeps reports whether a revision leaves a step in the plan: what is completed or under way, and unless it is replaced
// what is to come.
func (s *State) keeps(i int, replace bool) bool {
	st := &s.Steps[i]
	if st.Excused != "" || (st.op() != nil && st.op().Phase.Dead() && !st.done() && st.VerifyBy == 0) {
		return false
	}
	return !replace || (st.op() != nil && !st.undecided())
}

// undecided reports whether a step waits for a person's word before it is sent, and no copy of it is on its way: a revision may
// still take its place, and what was asked about it is withdrawn.
func (st *StepState) undecided() bool {
	op := st.op()
	return op != nil && op.Phase == OpUnsent && !op.Loose && (st.Confirming || st.Preparing || st.Prep != nil)
}

// reused refuses the id of a step that is no longer in the plan: ids are never used again.
func reused(old StepSpec, steps []StepSpec) (faults border.Faults) {
	for i, st := range steps {
		for _, name := range []struct{ field, value string }{{"id", st.ID}, {"output_key", st.OutputKey}} {
			if name.value != "" && (name.value == old.ID || name.value == old.OutputKey) {
				faults = append(faults, border.Fault{Path: stepPath(i, name.field), Code: "reused_id",
					Message: fmt.Sprintf("%q was a step of an earlier revision: use another", name.value)})
			}
		}
	}
	return faults
}

// renumber lets the path of a fault count from the first new step.
func renumber(path string, kept int) string {
	var n int
	if _, err := fmt.Sscanf(path, "steps[%d]", &n); err != nil || n < kept {
		return path
	}
	prefix := fmt.Sprintf("steps[%d]", n)
	return fmt.Sprintf("steps[%d]", n-kept) + path[len(prefix):]
}

// revise changes the plan. The caller made sure that the revision has no faults.
func (m *machine) revise(r revision, note string) {
	s := &m.s
	if r.replace {
		for i := range s.Steps {
			if s.Steps[i].op() == nil || s.Steps[i].undecided() {
				m.excuse(i, ExcuseReplaced)
			}
		}
	}
	doc := *s.Document
	doc.Steps = append(doc.Steps[:len(doc.Steps):len(doc.Steps)], r.steps...)
	slice := s.Slice.With(r.slice)
	s.Document, s.Slice = &doc, &slice
	added := newSteps(r.steps)
	for i := range added {
		added[i].FromModel = r.fromModel
	}
	s.Steps = append(s.Steps, added...)
	s.Revision++
	m.note("", note)
}

// amend takes a person's revision. One that does not pass the gate changes nothing.
func (m *machine) amend(in Amend) {
	if faults := m.s.AmendFaults(in); len(faults) > 0 {
		m.note("", "amendment refused: "+faults.Error())
		return
	}
	m.revise(revision{steps: in.Steps, slice: in.Slice, replace: in.Replace}, "amended by "+in.By)
}

// AmendFaults says why an amendment would be refused; none means that it would be taken.
func (s *State) AmendFaults(in Amend) border.Faults {
	if faults := s.amendable(); len(faults) > 0 {
		return faults
	}
	return s.revisionFaults(revision{steps: in.Steps, slice: in.Slice, replace: in.Replace})
}

// replan takes a decider's proposal in place of what is left. An invalid one may be tried once more; the same plan again
// stops and asks (law 13).
func (m *machine) replan(i int, in Decided) {
	b := m.s.Boundary
	r := revision{steps: in.Steps, slice: in.Slice, replace: true, fromModel: true, instead: m.instead(i)}
	refused := in.Refused
	if faults := m.s.revisionFaults(r); refused == "" && len(faults) > 0 {
		refused = faults.Error()
	}
	if refused != "" {
		m.note(b.StepID, "proposed plan refused: "+shortText(refused))
		again := b.Refused == "" && m.s.Decided < maxDecisions
		b.Refused = shortText(refused)
		if !again {
			m.byTable()
		}
		return
	}
	if m.sameAgain(in.Steps) {
		m.note(b.StepID, "the same plan was proposed again")
		m.askPerson(i, "")
		return
	}
	m.s.Boundary = nil
	if st := &m.s.Steps[i]; st.inFlight() {
		st.Then = ThenReplace // it is alive: cancelled, and seen dead, before anything else moves
	} else {
		m.excuse(i, ExcuseReplaced)
	}
	m.revise(r, "replanned: "+in.Reason)
}

// sameAgain reports whether a proposal is what is left of the plan, or what was proposed before, and remembers it.
func (m *machine) sameAgain(steps []StepSpec) bool {
	var left []StepSpec
	for i, spec := range m.s.Document.Steps {
		if m.s.Steps[i].Excused == "" && !m.s.Steps[i].done() {
			left = append(left, spec)
		}
	}
	proposed := fingerprint(steps)
	if proposed == fingerprint(left) || slices.Contains(m.s.Proposals, proposed) {
		return true
	}
	m.s.Proposals = append(m.s.Proposals[:len(m.s.Proposals):len(m.s.Proposals)], proposed)
	return false
}

// fingerprint names what steps do and in which order, whatever they are called.
func fingerprint(steps []StepSpec) string {
	places := make(map[string]string)
	for i, st := range steps {
		places[st.ID] = "#" + itoa(i)
	}
	type shape struct {
		Action Action
		After  []string
		From   map[string]string
	}
	shapes := make([]shape, len(steps))
	for i, st := range steps {
		shapes[i] = shape{Action: st.Action, From: st.InputFrom}
		for _, id := range st.DependsOn {
			shapes[i].After = append(shapes[i].After, orText(places[id], id))
		}
	}
	raw, err := json.Marshal(shapes)
	if err != nil { // arguments are JSON: they came as such
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// instead is the step that other steps take the place of at a boundary. One that was done meanwhile, while it was being
// decided about what the device saw, stays: what is done is never touched (law 14).
func (m *machine) instead(i int) string {
	if m.s.Boundary.Observed != nil && m.s.Steps[i].done() {
		return ""
	}
	return m.s.Steps[i].ID
}

// wayHome is the revision that gives up the rest and lets the device go back. It reports whether there is one: a safe
// return that is not what just failed, and that passes the same gate as any plan (design §6).
func (m *machine) wayHome(i int) (revision, bool) {
	home := m.s.Slice.SafeReturn
	if home == nil || m.s.Returning != nil || m.s.Document.Steps[i].Action.CapabilityID == home.CapabilityID {
		return revision{}, false
	}
	id := "return"
	for n := 2; m.s.index(id) >= 0 || m.s.Document.source(id) >= 0; n++ {
		id = "return_" + itoa(n)
	}
	r := revision{replace: true, instead: m.instead(i), steps: []StepSpec{{ID: id, Action: Action{CapabilityID: home.CapabilityID, OperationID: home.OperationID}}}}
	return r, len(m.s.revisionFaults(r)) == 0
}

// returnHome gives up the rest and lets the device go back. It reports whether that can be done.
func (m *machine) returnHome(i int) bool {
	r, ok := m.wayHome(i)
	if !ok {
		m.note("", "there is no way to return safely")
		return false
	}
	report := m.s.Boundary.Report
	m.s.Returning, m.s.Boundary = &report, nil
	if st := &m.s.Steps[i]; st.inFlight() {
		st.Then = ThenReplace
	} else {
		m.excuse(i, ExcuseReplaced)
	}
	m.revise(r, "returning: "+report.Code)
	return true
}
