package plan

// ReplanDecision is a decision that was taken, in the one shape that all have (contract.md §7): whether the plan's decider,
// the reason table or a person took it, and whether a task event or an observation led to it.
type ReplanDecision struct {
	Decision DecisionKind `json:"decision"`
	// TTSResponse is what it comes to in words. For ask it is the question; for cancel the decider's own, which is on
	// record here, while the person hears the outcome's sentence (law 20).
	TTSResponse string     `json:"tts_response,omitempty"`
	Steps       []StepSpec `json:"steps,omitempty"`
	Question    string     `json:"question,omitempty"`
	Choices     []string   `json:"choices,omitempty"`
	Reason      string     `json:"reason,omitempty"`

	// By is the decider's name, "table" or "person". StepID, Code and At say which boundary it settled, and when.
	By     string `json:"by"`
	StepID string `json:"step_id"`
	Code   string `json:"reason_code"`
	At     int64  `json:"at"`
}

// taken notes a decision. What it leads to may add to it.
func (m *machine) taken(in Decided, by string) {
	b := m.s.Boundary
	m.s.Taken = &ReplanDecision{Decision: in.Decision, TTSResponse: in.TTSResponse, Steps: in.Steps, Reason: in.Reason,
		By: by, StepID: b.StepID, Code: b.Report.Code, At: m.at}
	if in.Decision == DecideCancel && in.TTSResponse == "" {
		m.s.Taken.TTSResponse = m.table(b.Report).Say.In(m.s.Start.Locale)
	}
}

// askedFor completes the note with what the person is asked, whatever else the decision was that came to this.
func (m *machine) askedFor(q *Question) {
	d := *m.s.Taken
	d.Decision, d.TTSResponse, d.Question, d.Choices = DecideAsk, q.Text, q.Text, q.Choices
	m.s.Taken = &d
}
