package plan

import (
	"encoding/json"
	"slices"
	"strings"
)

// journalTail is how many entries the state keeps; Entries counts them all.
const journalTail = 200

func (m *machine) log(e Entry) {
	m.s.Entries++
	e.N, e.At = m.s.Entries, m.at
	m.s.Journal = append(m.s.Journal, e)
	if extra := len(m.s.Journal) - journalTail; extra > 0 {
		m.s.Journal = slices.Clone(m.s.Journal[extra:])
	}
}

func (m *machine) note(step, text string) { m.log(Entry{Kind: "note", Step: step, Text: text}) }

// settle derives the phases, writes what changed since the old state to the journal, and asks to be woken in time.
func (m *machine) settle(old State) {
	s := &m.s
	for i := range s.Steps {
		st := &s.Steps[i]
		from := StepPending
		if i < len(old.Steps) {
			from = old.Steps[i].Phase
		}
		if s.Outcome == nil {
			st.Phase = st.derivePhase(s.ready(i))
		}
		if st.Phase != from {
			m.log(Entry{Kind: "step", Step: st.ID, From: string(from), To: string(st.Phase), Text: s.whyStep(i)})
		}
	}
	if from, to := old.Phase(), s.Phase(); from != to || !old.Begun {
		entry := Entry{Kind: "plan", From: string(from), To: string(to), Text: s.waitingFor()}
		if to.waits() {
			entry.Until = s.next().At
		}
		m.log(entry)
	}
	if wake := s.next(); wake.At != s.Wake || (wake.At > 0 && wake.At <= m.at) {
		s.Wake = wake.At
		if wake.At > 0 {
			m.do(SetDeadline(wake))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// maxNoted bounds what the record quotes of others: a plan of many faults has as many lines of them.
const maxNoted = 4000

func shortText(text string) string {
	if len(text) <= maxNoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxNoted], "") + "…"
}

// shortJSON shows a value to people, cut at 120 bytes.
func shortJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(b) > 120 {
		return string(b[:117]) + "..."
	}
	return string(b)
}
