package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"errand/catalog"
)

const (
	// askConfirm is the kind of question that asks for a person's consent before a step (law 16).
	askConfirm = "confirm"
	// askSelect is the kind that asks which object is meant.
	askSelect = "select"

	// confirmFor is how long a person's yes holds; by then the device must have begun.
	confirmFor = 2 * minute
	// leastLease is what must be left of it at a submit: less would be over on the way.
	leastLease = 2 * second
	// maxChoices bounds the objects that a person is asked to tell apart.
	maxChoices = 8
)

// The choices of a question about consent, and the one that takes none of several objects.
const (
	choiceYes  = "yes"
	choiceNo   = "no"
	choiceNone = "none"
)

// Confirmation is a person's consent to one operation, as a lease (law 16): it holds for exactly what was asked about, for one
// operation, and not for long.
type Confirmation struct {
	QuestionID string `json:"question_id"`
	By         string `json:"by"`
	At         int64  `json:"at"`
	Until      int64  `json:"until"`
	// Hash names what was asked about: see consent.
	Hash string `json:"hash"`
}

// confirms reports whether a person must consent before a step is carried out.
func (s *State) confirms(i int) bool {
	c := s.capability(i)
	return s.Slice.Policy(c).Confirms(c.Impact, s.Steps[i].FromModel)
}

// confirmed reports whether a person's consent to the step, as it would be sent now, stands. If none does it asks for it: one
// that has run out, or was for something else, counts for nothing, and what it was bound to is looked at again first.
func (m *machine) confirmed(i int) bool {
	st := &m.s.Steps[i]
	hash := m.s.consent(i)
	if c := st.Confirmation; c != nil {
		if c.Hash == hash && m.at+leastLease < c.Until {
			return true
		}
		m.note(st.ID, "the confirmation "+c.QuestionID+" no longer holds: asked again")
		st.Confirmation = nil
		if m.s.looksFirst(i) {
			st.Prep = nil
			m.prepare(i)
			return false
		}
	}
	m.askConsent(i, hash)
	return false
}

// consent is the hash of all that a consent is bound to: the operation, so that it serves once, what it does to what, the
// state it was given for, and the catalog that says what all of it means.
func (s *State) consent(i int) string {
	st, action := &s.Steps[i], s.Document.Steps[i].Action
	bound := struct {
		OperationID, CapabilityID, Operation, StateVersion, Catalog string
		Arguments                                                   map[string]any
		Target                                                      *Target
	}{OperationID: st.op().ID, CapabilityID: action.CapabilityID, Operation: action.OperationID, Catalog: s.Slice.Digest,
		Arguments: st.Arguments, Target: st.Target}
	if st.Prep != nil {
		bound.StateVersion = st.Prep.StateVersion
	}
	raw, err := json.Marshal(bound)
	if err != nil { // arguments are JSON: they came as such
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// askConsent asks a person for consent to exactly what would be sent.
func (m *machine) askConsent(i int, hash string) {
	st, c := &m.s.Steps[i], m.s.capability(i)
	text := catalog.Render(c.Say["confirm"].In(m.s.Start.Locale), m.s.spokenOf(i, nil))
	m.ask(Question{Kind: askConfirm, StepID: st.ID, OperationID: st.op().ID, Text: text, Choices: []string{choiceYes, choiceNo}, Consent: hash}, "ask_confirm",
		map[string]string{"what": m.s.doing(i)})
	st.Confirming = true
}

// askSelect asks which of the objects is meant.
func (m *machine) askSelect(i int, sentence string) {
	st := &m.s.Steps[i]
	found := st.Prep.Candidates
	q := Question{Kind: askSelect, StepID: st.ID, OperationID: st.op().ID, Options: found}
	for _, t := range found {
		q.Choices = append(q.Choices, t.ID)
	}
	q.Choices = append(q.Choices, choiceNone)
	m.ask(q, sentence, map[string]string{"what": m.s.doing(i), "choices": labels(found)})
	st.Confirming = true
}

// settled carries out a person's answer about one step before it moves anything.
func (m *machine) settled(q Question, choice, by string) {
	i := m.s.index(q.StepID)
	st := &m.s.Steps[i]
	st.Confirming = false
	switch {
	case q.Kind == askConfirm && choice == choiceYes:
		st.Confirmation = &Confirmation{QuestionID: q.ID, By: by, At: m.at, Until: m.at + confirmFor, Hash: q.Consent}
		return
	case q.Kind == askSelect && choice != choiceNone:
		for _, t := range q.Options {
			if t.ID == choice {
				m.choose(i, t)
				return
			}
		}
	}
	code := codeNotConfirmed
	if by == "" {
		code = codeConfirmPassed
	}
	m.unwanted(i, Report{Code: code, Detail: "question " + q.ID})
}

// unwanted leaves out a step that a person does not want, or did not say yes to: the plan goes on without it if it may.
func (m *machine) unwanted(i int, report Report) {
	st := &m.s.Steps[i]
	st.Reason = &report
	if op := st.op(); op.Loose { // a copy may be on its way: stopped, and seen dead, like anything else
		m.end(Failed, &report)
		return
	}
	st.Closed = StepSkipped
	if m.s.Document.Steps[i].Optional {
		m.excuse(i, ExcuseSkipped)
		return
	}
	m.end(Failed, &report)
}
