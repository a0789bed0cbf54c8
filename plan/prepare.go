package plan

import (
	"fmt"
	"maps"
	"strings"

	"errand/catalog"
)

// Prepare looks at what a step would act on, and moves nothing: which objects its slot may name, how the state is that a
// confirmation is bound to, and whether its preconditions hold. Answered by Prepared.
type Prepare struct {
	Route         Route          `json:"route"`
	DeviceID      string         `json:"device_id"`
	OperationID   string         `json:"operation_id"`
	CapabilityID  string         `json:"capability_id"`
	Arguments     map[string]any `json:"arguments"`
	Preconditions []string       `json:"preconditions,omitempty"`
	// Binds are the paths whose values make the state version.
	Binds []string `json:"binds,omitempty"`
	// Object is where the candidates are; nil if the step acts on no object of the home.
	Object *catalog.Object `json:"object,omitempty"`
	// Named is the id of the object that is chosen already, by the plan or by a person; "" if none is.
	Named  string `json:"named,omitempty"`
	Locale string `json:"locale,omitempty"`
}

// Prepared answers Prepare.
type Prepared struct {
	OperationID string `json:"operation_id"`
	// Candidates are the objects that fit what the plan says, in the device's order; see Objects for how many.
	Candidates   []Target `json:"candidates,omitempty"`
	StateVersion string   `json:"state_version,omitempty"`
	// Report says why the step cannot be carried out now: a precondition, or a state that nobody can tell.
	Report *Report `json:"report,omitempty"`
	// Unseen says that the device could not be asked over the connection with this epoch.
	Unseen          bool   `json:"unseen,omitempty"`
	ConnectionEpoch int64  `json:"connection_epoch,omitempty"`
	Detail          string `json:"detail,omitempty"`
}

// Target is one object that a step may act on, as it was when somebody looked.
type Target struct {
	ID       string `json:"id"`
	Revision string `json:"revision"`
	// Label is what a person tells it by.
	Label string `json:"label"`
}

// Preparation is what Prepare found out about a step, as far as the machine keeps it.
type Preparation struct {
	Candidates   []Target `json:"candidates,omitempty"`
	StateVersion string   `json:"state_version,omitempty"`
}

// Expect is what must still be so when a prepared step is carried out; whoever sends it looks again first.
type Expect struct {
	Binds        []string `json:"binds,omitempty"`
	StateVersion string   `json:"state_version,omitempty"`
	// Area and Target name the object and its revision; "" and nil if there is none.
	Area   string  `json:"area,omitempty"`
	Target *Target `json:"target,omitempty"`
}

func (Prepare) command() {}
func (Prepared) input()  {}

// Codes of what stops a prepared step. Their rows in the reason table say what follows.
const (
	codeTargetMany    = "TARGET_TOO_MANY"
	codeNotConfirmed  = "NOT_CONFIRMED"
	codeConfirmPassed = "CONFIRMATION_EXPIRED"
	// These are said by whoever looks: no object fits or the chosen one is no more, it is not as it was, nobody can tell.
	CodeTargetGone   = "TARGET_NOT_FOUND"
	CodeStateChanged = "STATE_CHANGED"
	CodeStateUnknown = "STATE_UNKNOWN"
)

// maxPreparations bounds how often one step is prepared anew because what it was prepared for had changed.
const maxPreparations = 3

// cleared reports whether a step may be sent: it was prepared, its object is chosen, and a person confirmed what a person
// has to. Otherwise it does the next thing that is missing.
func (m *machine) cleared(i int) bool {
	st := &m.s.Steps[i]
	if m.s.looksFirst(i) {
		switch {
		case st.Preparing:
			return false
		case st.Prep == nil:
			m.prepare(i)
			return false
		case !m.targeted(i):
			return false
		}
	}
	return !m.s.confirms(i) || m.confirmed(i)
}

// looksFirst reports whether a step must be prepared: it acts on an object, or its confirmation is bound to a state.
func (s *State) looksFirst(i int) bool {
	c := s.capability(i)
	if s.inCloud(i) {
		return false
	}
	return c.ObjectSlot() != nil || (s.confirms(i) && (len(s.binds(i)) > 0 || len(c.Preconditions) > 0))
}

func (s *State) binds(i int) []string {
	if c := s.capability(i).Confirm; c != nil && s.confirms(i) {
		return c.Binds
	}
	return nil
}

func (m *machine) prepare(i int) {
	st, c := &m.s.Steps[i], m.s.capability(i)
	st.Preparing = true
	p := Prepare{Route: *m.s.Device.Route, DeviceID: m.s.Start.DeviceID, OperationID: st.op().ID, CapabilityID: c.ID, Arguments: st.Arguments,
		Preconditions: c.Preconditions, Binds: m.s.binds(i), Locale: m.s.Start.Locale}
	if slot := c.ObjectSlot(); slot != nil {
		p.Object = slot.Object
		p.Named, _ = st.Arguments[slot.Name].(string)
	}
	m.do(p)
}

// prepared takes what was seen. What follows is cleared's business, once nothing else is asked.
func (m *machine) prepared(in Prepared) {
	i, op := m.s.find(in.OperationID)
	if op == nil || op != m.s.Steps[i].op() || !m.s.Steps[i].Preparing {
		return
	}
	st := &m.s.Steps[i]
	st.Preparing = false
	switch {
	case op.Phase != OpUnsent || m.stopping():
	case in.Unseen:
		m.refute(in.ConnectionEpoch)
	case in.Report != nil:
		m.refuseUnsent(i, *in.Report)
	default:
		st.Prep = &Preparation{Candidates: in.Candidates, StateVersion: in.StateVersion}
	}
}

// refuseUnsent ends an operation that was never sent, for a reason of ours.
func (m *machine) refuseUnsent(i int, report Report) {
	op := m.s.Steps[i].op()
	if op.Loose { // an earlier copy may be on its way to the device: it is asked before anything is looked at again
		op.Phase = OpSent
		m.lose(op, mayHaveCome)
		return
	}
	op.Phase, op.Unasked = OpRefused, true
	m.failed(i, op, report)
}

// targeted reports whether the object of a step is chosen. Never the next best: one that was chosen and is gone, or is no
// longer as it was, is asked about again, even if a single one is left.
func (m *machine) targeted(i int) bool {
	st, slot := &m.s.Steps[i], m.s.capability(i).ObjectSlot()
	if slot == nil {
		return true
	}
	found, chosen := st.Prep.Candidates, st.Target
	if id, given := m.s.given(i, slot.Name); given && chosen == nil {
		return m.takeNamed(i, found, id)
	}
	switch {
	case chosen != nil && containsTarget(found, *chosen):
		return true
	case len(found) == 0:
		st.Prep = nil // it was seen just now: looking again would tell nothing new
		m.refuseUnsent(i, Report{Code: CodeTargetGone, Params: m.s.hints(i)})
	case len(found) > maxChoices:
		st.Prep = nil
		m.refuseUnsent(i, Report{Code: codeTargetMany, Params: map[string]any{"more_than": float64(maxChoices)}})
	case chosen != nil:
		st.Target = nil
		m.askSelect(i, "ask_select_again")
	case len(found) == 1:
		m.choose(i, found[0])
		return true
	default:
		m.askSelect(i, "ask_select")
	}
	return false
}

// takeNamed takes the object that the plan names by its id, or nothing.
func (m *machine) takeNamed(i int, found []Target, id string) bool {
	for _, t := range found {
		if t.ID == id {
			m.choose(i, t)
			return true
		}
	}
	m.s.Steps[i].Prep = nil
	m.refuseUnsent(i, Report{Code: CodeTargetGone, Params: map[string]any{"id": id}})
	return false
}

func containsTarget(found []Target, t Target) bool {
	for _, f := range found {
		if f.ID == t.ID && f.Revision == t.Revision {
			return true
		}
	}
	return false
}

// given is the object that the document, or a result before, names by id.
func (s *State) given(i int, slot string) (string, bool) {
	if value, ok := s.Document.Steps[i].Action.Arguments[slot].(string); ok {
		return value, true
	}
	if _, bound := s.Document.Steps[i].InputFrom[slot]; bound {
		value, ok := s.Steps[i].Arguments[slot].(string)
		return value, ok
	}
	return "", false
}

// hints are the slots by which an object was looked for.
func (s *State) hints(i int) map[string]any {
	hints := map[string]any{}
	for _, name := range sortedKeys(s.capability(i).ObjectSlot().Object.Match) {
		if value, given := s.Steps[i].Arguments[name]; given {
			hints[name] = value
		}
	}
	return hints
}

// choose binds a step to one object, by its id.
func (m *machine) choose(i int, t Target) {
	st := &m.s.Steps[i]
	st.Target = &t
	arguments := map[string]any{} // not a clone of the step's: those are nil in a new run, if there are none
	maps.Copy(arguments, st.Arguments)
	arguments[m.s.capability(i).ObjectSlot().Name] = t.ID
	st.Arguments = arguments
	m.log(Entry{Kind: "target", Step: st.ID, To: t.ID, Text: t.Label})
}

// prepareAgain prepares a step anew whose prepared state had changed when it was to be carried out, and reports whether it does. The
// operation is dead by then: refused, or failed without having done anything.
func (m *machine) prepareAgain(i int, report Report) bool {
	st := &m.s.Steps[i]
	if (report.Code != CodeStateChanged && report.Code != CodeTargetGone) || st.Prep == nil || m.stopping() || !st.alive() || st.Prepared >= maxPreparations {
		return false
	}
	st.Prepared++
	st.Prep, st.Confirmation = nil, nil
	m.openGeneration(i)
	st.op().Why = fmt.Sprintf("looked at again after %s, %d of %d", report.Code, st.Prepared, maxPreparations)
	m.log(Entry{Kind: "recovery", Step: st.ID, From: report.Code, To: "prepare", Text: fmt.Sprintf("%d of %d", st.Prepared, maxPreparations)})
	return true
}

// expect is what must still be so at the submit of a step.
func (s *State) expect(i int) *Expect {
	st := &s.Steps[i]
	if st.Prep == nil {
		return nil
	}
	e := &Expect{Binds: s.binds(i), StateVersion: st.Prep.StateVersion, Target: st.Target}
	if slot := s.capability(i).ObjectSlot(); slot != nil {
		e.Area = slot.Object.Area
	}
	return e
}

// labels are what a person chooses from, in one line.
func labels(found []Target) string {
	var all []string
	for _, t := range found {
		all = append(all, t.Label)
	}
	return strings.Join(all, ", ")
}
