package plan

import "errand/catalog"

// A step in the cloud is carried out by a worker, in one activity, instead of by the device. It has an operation id,
// timeouts, an impact and a result contract like any other (design §6 Cloud steps). It needs neither a route nor the lease,
// no report of the device is about it, and nobody can be asked afterwards how it ended: its activity tells, or nobody does.

// TargetCloud is the execution target of a step that a worker carries out.
const TargetCloud = "cloud"

// Perform asks a worker to carry out a step in the cloud; answered by Performed. One attempt: the machine owns the retries.
type Perform struct {
	OperationID  string         `json:"operation_id"`
	PlanID       string         `json:"plan_id"`
	StepID       string         `json:"step_id"`
	DeviceID     string         `json:"device_id"`
	CapabilityID string         `json:"capability_id"`
	TaskMethod   string         `json:"task_method"`
	Arguments    map[string]any `json:"arguments"`
	Locale       string         `json:"locale,omitempty"`
	// QueueMs bounds the wait for a worker, TimeoutMs the run.
	QueueMs   int64 `json:"queue_ms"`
	TimeoutMs int64 `json:"timeout_ms"`
	// Again says that this id was performed before, and nobody knows what came of it.
	Again bool `json:"again,omitempty"`
}

// StopPerforming asks the worker to stop; Perform is answered all the same, by what happened.
type StopPerforming struct {
	OperationID string `json:"operation_id"`
}

// Performed answers Perform: a result, or a report of why there is none, or one of the two flags.
type Performed struct {
	OperationID string         `json:"operation_id"`
	Result      map[string]any `json:"result,omitempty"`
	Report      *Report        `json:"report,omitempty"`
	// Stopped says that it was ended by StopPerforming before it was done; Unknown that nobody knows whether it was done.
	Stopped bool   `json:"stopped,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

func (Perform) command()        {}
func (StopPerforming) command() {}
func (Performed) input()        {}

func (s *State) inCloud(i int) bool { return s.Document.Steps[i].ExecutionTarget == TargetCloud }

// perform gives a step to a worker.
func (m *machine) perform(i int) {
	s, st := &m.s, &m.s.Steps[i]
	op, c, t := st.op(), s.capability(i), s.timeouts(i)
	op.Phase, op.Sending, op.Why, op.CheckAt = OpSent, true, "", 0
	op.Sends++
	op.SentAt = m.at
	m.do(Perform{OperationID: op.ID, PlanID: s.Start.PlanID, StepID: st.ID, DeviceID: s.Start.DeviceID, CapabilityID: c.ID,
		TaskMethod: c.TaskMethod, Arguments: c.Sent(st.Arguments), Locale: s.Start.Locale, QueueMs: t.QueueMs, TimeoutMs: t.RunMs, Again: op.Sends > 1})
}

func (m *machine) performed(in Performed) {
	i, op := m.s.find(in.OperationID)
	if op == nil || !op.Cloud || !op.Sending {
		return
	}
	op.Sending = false
	ev := Event{Name: EventCompleted, OperationID: op.ID, StepID: m.s.Steps[i].ID, Timestamp: m.at, Result: in.Result, Report: in.Report}
	switch {
	case in.Unknown:
		m.neverTold(i, op, orText(in.Detail, "nobody told what came of it"))
	case in.Stopped:
		ev.Name = EventCancelled
		m.terminal(i, op, OpCancelled, ev)
	case in.Report != nil:
		ev.Name = EventFailed
		m.terminal(i, op, OpFailed, ev)
	default:
		m.terminal(i, op, OpCompleted, ev)
	}
}

// stopPerforming asks the worker to stop, once.
func (m *machine) stopPerforming(op *Operation) {
	if op.Sending && op.CancelSent == "" {
		op.CancelSent = string(CancelStopping)
		m.do(StopPerforming{OperationID: op.ID})
	}
}

// spokenResult is the one field that a step in the cloud gives away if its capability lists none. Its bare result is then a
// name for this field, and for nothing else (first seed, "tts_response").
const spokenResult = "tts_response"

var spokenContract = catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: spokenResult, Schema: catalog.SlotSchema{Type: "string"}}}}

// contractOf returns what a step gives away.
func contractOf(spec *StepSpec, c *catalog.Capability) *catalog.ResultContract {
	if spec.ExecutionTarget == TargetCloud && len(c.ResultContract.BindableResultFields) == 0 {
		return &spokenContract
	}
	return &c.ResultContract
}

// from reads a path as what it means for its source.
func (p DataPath) from(contract *catalog.ResultContract) DataPath {
	if p.Field == "" && contract == &spokenContract {
		p.Field = spokenResult
	}
	return p
}
