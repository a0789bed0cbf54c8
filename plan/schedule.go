package plan

import "slices"

// schedule starts the first ready step in plan order, when nothing is in flight and nothing holds it (laws 1 and 2).
func (m *machine) schedule() {
	s := &m.s
	if s.Document == nil || m.stopping() || s.Boundary != nil || s.Question != nil {
		return
	}
	if i := s.current(); i >= 0 {
		m.send(i)
		return
	}
	next, all := -1, true
	for i := range s.Steps {
		if s.Steps[i].done() || s.Steps[i].Excused != "" {
			continue
		}
		all = false
		if next < 0 && s.Steps[i].op() == nil && s.ready(i) {
			next = i
		}
	}
	switch {
	case all && len(s.FollowUps) > 0: // what comes next is still being planned
	case all && !s.anyDone():
		m.end(Failed, s.lastReason())
	case all && s.Returning != nil:
		m.end(Returned, s.Returning)
	case all:
		m.end(Completed, nil)
	case next >= 0 && len(s.Pauses) == 0 && !s.Held && (s.inCloud(next) || m.mayMove()):
		m.openGeneration(next)
		m.send(next)
	}
}

func (s *State) anyDone() bool {
	return slices.ContainsFunc(s.Steps, func(st StepState) bool { return st.done() })
}

// lastReason is why the last step that has a reason is not completed.
func (s *State) lastReason() *Report {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if r := s.Steps[i].Reason; r != nil {
			return r
		}
	}
	return &Report{Code: "UNKNOWN", Detail: "no step of the plan was carried out"}
}

// openGeneration makes the next operation of a step. The one before it must be dead (law 11).
func (m *machine) openGeneration(i int) {
	st := &m.s.Steps[i]
	if op := st.op(); op != nil && !op.Phase.Dead() {
		return
	}
	generation := st.generations() + 1
	id := OperationID{Plan: m.s.Start.PlanID, Step: st.ID, Generation: generation}
	st.Ops = append(st.Ops, Operation{ID: id.String(), Generation: generation, Phase: OpUnsent, Cloud: m.s.inCloud(i)})
	st.Reason, st.Result = nil, nil
	st.Prep, st.Preparing, st.Confirmation = nil, false, nil // what was seen and agreed to was for the one before
}

// send submits the operation of a step that waits to be sent, if there is a route and its time has not passed; one in the
// cloud needs no route.
func (m *machine) send(i int) {
	s, st := &m.s, &m.s.Steps[i]
	op := st.op()
	if op.Phase != OpUnsent || op.Sending || len(s.Pauses) > 0 || s.Held || m.at < op.CheckAt {
		return
	}
	if !m.bind(i) {
		return
	}
	if op.Cloud {
		if m.cleared(i) {
			m.perform(i)
		}
		return
	}
	if s.Device.Route == nil || m.elsewhere(i, op) || m.askIfLate(op) || !m.cleared(i) {
		return
	}
	spec, c, t, route := s.Document.Steps[i], s.capability(i), s.timeouts(i), *s.Device.Route
	ttl := t.QueueMs
	if !s.moved() {
		ttl = min(ttl, s.StartBy-m.at)
	}
	if st.Confirmation != nil {
		ttl = min(ttl, st.Confirmation.Until-m.at) // nothing starts on a consent that has run out (law 16)
	}
	op.Phase, op.Sending, op.Lost, op.Why = OpSent, true, false, ""
	op.Sends++
	op.StoreID, op.RetentionMs, op.SentAt, op.StartBy = route.StoreID, route.RetentionMs, m.at, m.at+ttl
	m.do(Submit{Route: route, DeviceID: s.Start.DeviceID, HomeID: s.Start.HomeID, OperationID: op.ID, PlanID: s.Start.PlanID,
		StepID: st.ID, OutputKey: spec.OutputKey, Revision: s.Revision,
		CapabilityID: c.ID, TaskMethod: c.TaskMethod, CompletionTarget: c.CompletionTarget,
		Arguments: c.Sent(st.Arguments), TimeoutMs: t.RunMs, TTLMs: ttl, Again: op.Sends > 1,
		Preconditions: c.Preconditions, NodeCommand: c.NodeCommand, Expect: s.expect(i)})
}

// elsewhere keeps a submit that may have arrived from being sent again to a device that lost its store since: the store
// that would know it is gone, so the new one would take it for a new wish (law 11). It stays unknown.
// What may be repeated leaves the same if it is done twice.
func (m *machine) elsewhere(i int, op *Operation) bool {
	if !op.Loose || m.s.capability(i).Repeatable() || op.StoreID == m.s.Device.Route.StoreID {
		return false
	}
	op.Phase = OpSent
	m.lose(op, "the device lost its store since it was first sent")
	m.tend()
	return true
}

// moved reports whether the device ever took an operation of this plan.
func (s *State) moved() bool {
	for i := range s.Steps {
		for _, op := range s.Steps[i].Ops {
			if op.Phase.rank() > 0 && op.Phase != OpRefused && !op.Cloud {
				return true
			}
		}
	}
	return false
}

// unstarted reports whether nothing was sent that may have moved the device: then StartBy bounds the wait.
func (s *State) unstarted() bool {
	if s.Cancel != nil || s.Ending != nil || s.moved() {
		return false
	}
	i := s.current()
	return i < 0 || s.Steps[i].op().Phase == OpUnsent
}

// bind fills a step's arguments once: the document's own, and those bound from results (law 3).
// A binding that fails submits nothing: the operation is withdrawn and a decision is due.
func (m *machine) bind(i int) bool {
	st := &m.s.Steps[i]
	if st.Arguments != nil {
		return true // frozen: a resend carries the same
	}
	arguments, report := m.s.bindArguments(i)
	if report != nil {
		st.Ops = st.Ops[:len(st.Ops)-1]
		st.Reason = report
		m.raise(i, "", *report)
		return false
	}
	st.Arguments, st.Bound = arguments, m.s.Document.Steps[i].InputFrom
	for _, slot := range sortedKeys(st.Bound) {
		m.log(Entry{Kind: "bind", Step: st.ID, From: st.Bound[slot], To: slot, Text: shortJSON(arguments[slot])})
	}
	return true
}

func (m *machine) submitted(in Submitted) {
	i, op := m.s.find(in.OperationID)
	if op == nil || !op.Sending || op.Cloud {
		return
	}
	op.Sending = false
	if op.TaskID == "" {
		op.TaskID = in.TaskID
	}
	if op.Pre == "" {
		op.Pre = in.PreStateRevision
	}
	if op.Phase.Dead() {
		return // its result came before this answer (law 8)
	}
	switch in.Delivery {
	case DeliveryAccepted:
		m.accepted(i, op, in)
	case DeliveryRefused:
		m.refused(i, op, in)
	case DeliveryUndelivered:
		if op.Phase == OpSent {
			op.Phase, op.Lost, op.Why = OpUnsent, false, "not delivered: "+in.Detail
		}
		m.refute(in.ConnectionEpoch)
	default:
		op.Loose, op.LooseUntil = true, max(op.LooseUntil, op.StartBy+slack)
		if op.Phase == OpSent {
			m.lose(op, "no acknowledgement: "+in.Detail)
		}
	}
}

func (m *machine) accepted(i int, op *Operation, in Submitted) {
	doubted, why := op.Lost, op.Why
	m.contact(op)
	if in.StoreID != "" {
		op.StoreID = in.StoreID
	}
	if op.Phase.rank() < OpAccepted.rank() {
		op.Phase = OpAccepted
	}
	op.CheckAt = m.checkAfter(i, op)
	if doubted { // by something that came while it was out: that it was taken does not settle what came of it
		m.lose(op, why)
	}
	if in.Terminal != nil {
		m.apply(i, op, *in.Terminal)
	}
}

func (m *machine) refused(i int, op *Operation, in Submitted) {
	switch {
	case op.Phase.rank() > 0:
		m.lose(op, "refused, after the device had taken it")
		return
	case in.Unasked && op.Loose: // the device said nothing, and an earlier submit may be on its way to it
		m.lose(op, mayHaveCome)
		return
	case m.stopping() && (op.Cancelling || op.CancelSent != ""):
		op.Phase, op.Lost, op.Why = OpCancelled, false, "its cancel was there first"
		return
	}
	op.Phase, op.Lost, op.Unasked = OpRefused, false, in.Unasked
	report := Report{Code: "UNKNOWN", Detail: in.Detail}
	if in.Report != nil {
		report = *in.Report
	}
	if alive := m.s.stillAlive(i, report); alive != nil {
		m.reopen(i, alive)
		return
	}
	m.failed(i, op, report)
}

// stillAlive finds the earlier operation of a step that the device, refusing the next one, says is not dead (law 11).
func (s *State) stillAlive(i int, report Report) *Operation {
	id, _ := report.Params["alive"].(string)
	if report.Code != "GENERATION_ALIVE" {
		return nil
	}
	j, op := s.find(id)
	if j != i || op == s.Steps[i].op() {
		return nil
	}
	return op
}

// overdueAt is when an operation should have ended by itself: then the device is asked (design §6 Timeouts).
func (m *machine) overdueAt(i int, op *Operation) int64 {
	t := m.s.timeouts(i)
	if op.Phase.rank() >= OpRunning.rank() {
		return m.at + t.RunMs + slack
	}
	return m.at + t.QueueMs + t.RunMs + slack
}
