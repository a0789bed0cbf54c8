package plan

import (
	"slices"
	"strings"
)

// View is a plan as told to planners, the API and `errand plan show` (contract.md §2, plan_state).
type View struct {
	PlanID   string `json:"plan_id"`
	DeviceID string `json:"device_id"`
	// DeviceName is what people called the device when the plan was asked for.
	DeviceName string `json:"device_name,omitempty"`
	State      Phase  `json:"state"`
	// Why says in words what the plan waits for, or how it ended.
	Why      string     `json:"why,omitempty"`
	Plan     PlanState  `json:"plan_state"`
	Steps    []StepView `json:"steps"`
	Question *Question  `json:"question,omitempty"`
	// Answers are the questions that were answered last, and by whom.
	Answers []Answered `json:"answers,omitempty"`
	// Decision is the decision that was taken last at a boundary, whoever took it.
	Decision *ReplanDecision `json:"replan_decision,omitempty"`
	Cancel   *Latch          `json:"cancel,omitempty"`
	Deadline int64           `json:"deadline"`
	// Next is when the plan moves by itself though nothing comes, and how (law 18); nil once it is over.
	Next     *Next `json:"next,omitempty"`
	LLMCalls int   `json:"llm_calls"`
	// Journal is the tail of what happened; Entries counts all of it.
	Journal []Entry  `json:"journal,omitempty"`
	Entries int      `json:"entries"`
	Outcome *Outcome `json:"outcome,omitempty"`
}

// PlanState is the contract's plan_state.
type PlanState struct {
	CompletedStepIDs []string              `json:"completed_step_ids"`
	StepResults      map[string]StepResult `json:"step_results"`
	PlanRevision     int                   `json:"plan_revision"`
	WaitingFor       string                `json:"waiting_for"`
}

// StepResult is one entry of step_results. EventName is the device's own word, kept for monitoring.
type StepResult struct {
	Status     string         `json:"status"`
	EventName  string         `json:"event_name"`
	TaskMethod string         `json:"task_method"`
	Result     map[string]any `json:"result"`
}

// StepView is one step for people: where it stands, why it waits and until when.
type StepView struct {
	ID           string `json:"id"`
	CapabilityID string `json:"capability_id"`
	// OutputKey is the step's other name in paths, so that a reader of Bound finds the step a value came from.
	OutputKey   string            `json:"output_key,omitempty"`
	State       StepPhase         `json:"state"`
	OperationID string            `json:"operation_id,omitempty"`
	TaskID      string            `json:"task_id,omitempty"`
	Arguments   map[string]any    `json:"arguments,omitempty"`
	Bound       map[string]string `json:"bound,omitempty"` // slot → the path its value came from
	Why         string            `json:"why,omitempty"`
	Until       int64             `json:"until,omitempty"`
	Reason      *Report           `json:"reason,omitempty"`
	Verdict     Verdict           `json:"verdict,omitempty"`
	Progress    *Progress         `json:"progress,omitempty"`
	// Target is the object of the home that was chosen.
	Target *Target `json:"target,omitempty"`
}

// Phase says where the plan stands: of several states at once, the first of those in design §6.
func (s *State) Phase() Phase {
	switch {
	case s.Outcome != nil:
		return s.Outcome.State
	case s.Cancel != nil || s.Ending != nil:
		return Cancelling
	case len(s.Pauses) > 0:
		return Paused
	case s.Question != nil:
		return WaitingUser
	case s.Boundary != nil:
		return WaitingReplan
	case s.Device.Awaiting || s.waitsItsTurn():
		return WaitingDevice
	case s.Document == nil:
		return Planning
	}
	return Running
}

// waitsItsTurn reports whether the device is another plan's, as far as this one knows.
func (s *State) waitsItsTurn() bool { return s.Lease.Asked && !s.Lease.Held }

// View tells the plan's story as it stands.
func (s *State) View() View {
	v := View{PlanID: s.Start.PlanID, DeviceID: s.Start.DeviceID, DeviceName: s.Start.DeviceName, State: s.Phase(),
		Why: s.why(), Question: s.Question, Answers: s.Answers, Decision: s.Taken,
		Cancel: s.Cancel, Deadline: s.Deadline, LLMCalls: s.LLMCalls, Journal: s.Journal, Entries: s.Entries,
		Outcome: s.Outcome, Steps: []StepView{},
		Plan: PlanState{CompletedStepIDs: []string{}, StepResults: map[string]StepResult{},
			PlanRevision: s.Revision, WaitingFor: s.waitingFor()}}
	if next := s.next(); next.At > 0 {
		v.Next = &next
	}
	for i := range s.Steps {
		v.Steps = append(v.Steps, s.stepView(i))
		st := &s.Steps[i]
		if st.Phase == StepCompleted {
			v.Plan.CompletedStepIDs = append(v.Plan.CompletedStepIDs, st.ID)
		}
		if op := st.op(); op != nil && op.Terminal != nil {
			v.Plan.StepResults[st.ID] = StepResult{Status: string(st.Phase), EventName: string(op.Terminal.Name),
				TaskMethod: s.capability(i).TaskMethod, Result: st.Result}
		}
	}
	return v
}

func (s *State) stepView(i int) StepView {
	st, spec := &s.Steps[i], &s.Document.Steps[i]
	v := StepView{ID: st.ID, OutputKey: spec.OutputKey, CapabilityID: spec.Action.CapabilityID, State: st.Phase, Arguments: st.Arguments,
		Bound: st.Bound, Target: st.Target, Reason: st.Reason, Why: s.whyStep(i), Until: s.until(i)}
	if v.Arguments == nil {
		v.Arguments = spec.Action.Arguments
	}
	if op := st.op(); op != nil {
		v.OperationID, v.TaskID, v.Progress = op.ID, op.TaskID, op.Progress
	}
	if st.Receipt != nil {
		v.Verdict = st.Receipt.Verdict
	}
	return v
}

// until is when the wait of a step ends by itself (law 18); 0 if it waits for nothing of its own.
func (s *State) until(i int) int64 {
	st := &s.Steps[i]
	op := st.op()
	switch {
	case st.VerifyBy > 0:
		return st.VerifyBy
	case st.WaitUntil > s.At && s.Cancel == nil && s.Ending == nil:
		return st.WaitUntil
	case op == nil || op.Phase.Dead() || st.Closed != "":
		return 0
	case op.CheckAt > s.At:
		return op.CheckAt
	case s.Cancel != nil || s.Ending != nil:
		return s.patience()
	case s.unstarted():
		return min(s.StartBy, s.Deadline)
	}
	return s.Deadline
}

// waitingFor names what the plan waits for, "" when it waits for nothing or is over.
func (s *State) waitingFor() string {
	switch s.Phase() {
	case Planning:
		return "planner"
	case WaitingDevice:
		if s.waitsItsTurn() {
			return "lease"
		}
		return "device"
	case WaitingUser:
		return "answer:" + s.Question.ID
	case WaitingReplan:
		return "decision:" + s.Boundary.Report.Code
	case Paused:
		return "resume"
	case Cancelling, Running:
		if i := s.awaited(); i >= 0 {
			return "step:" + s.Steps[i].ID
		}
		if len(s.FollowUps) > 0 && s.Phase() == Running {
			return "planner"
		}
	default: // over
	}
	return ""
}

// awaited is the step in flight, else the one whose refusal is being tested (see disown); -1 if there is none.
func (s *State) awaited() int {
	if i := s.current(); i >= 0 {
		return i
	}
	return slices.IndexFunc(s.Steps, func(st StepState) bool {
		return slices.ContainsFunc(st.Ops, func(op Operation) bool { return op.Cancelling })
	})
}

// What names what a step does, with its arguments: "move_to_room (position_name=안방)".
func (v StepView) What() string {
	var arguments []string
	for _, slot := range sortedKeys(v.Arguments) {
		text, ok := v.Arguments[slot].(string)
		if !ok {
			text = shortJSON(v.Arguments[slot])
		}
		arguments = append(arguments, slot+"="+text)
	}
	if len(arguments) == 0 {
		return v.CapabilityID
	}
	return v.CapabilityID + " (" + strings.Join(arguments, ", ") + ")"
}
