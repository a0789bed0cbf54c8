package plan

// refute drops a route that turned out to be gone. A newer connection must be found.
func (m *machine) refute(connectionEpoch int64) {
	d := &m.s.Device
	if d.Route == nil || d.Route.ConnectionEpoch > connectionEpoch {
		return
	}
	d.Route, d.Refuted = nil, max(d.Refuted, connectionEpoch)
}

func (m *machine) deviceFound(route Route) {
	d := &m.s.Device
	waited := int64(0)
	if d.Awaiting {
		waited = m.at - d.Since
	}
	d.Awaiting, d.Since = false, 0
	if d.Route != nil && d.Route.ConnectionEpoch > route.ConnectionEpoch {
		return
	}
	if d.Route != nil && d.Route.ConnectionEpoch < route.ConnectionEpoch {
		m.cutShort()
	}
	d.Route = &route
	d.Late = d.Late || (waited > lateAfter && m.s.moved())
}

// askIfLate asks before a plan that was on its way moves the device again after a long wait (design §6, old intentions).
func (m *machine) askIfLate(op *Operation) bool {
	if !m.s.Device.Late {
		return false
	}
	m.s.Device.Late = false
	m.ask(Question{Kind: "proceed_late", OperationID: op.ID, Choices: []string{"continue", "stop"}}, "ask_late", nil)
	return true
}

func (m *machine) deviceChange(in DeviceChange) {
	d := &m.s.Device
	if in.Route != nil {
		if in.Route.ConnectionEpoch <= d.Refuted {
			return // old word: it was tried since, and is gone
		}
		if d.Awaiting {
			m.do(StopAwaiting{})
		}
		m.deviceFound(*in.Route)
		return
	}
	if d.Route == nil || d.Route.ConnectionEpoch != in.Gone {
		return
	}
	m.refute(in.Gone)
	if i := m.s.current(); i >= 0 {
		if op := m.s.Steps[i].op(); !op.Phase.Dead() && op.Phase != OpUnsent && !op.Cloud {
			m.lose(op, "the link to the device was lost")
		}
	}
}

// reachDevice keeps one AwaitDevice out whenever something needs the device and no route is known, and none otherwise.
func (m *machine) reachDevice() {
	d := &m.s.Device
	needed := d.Route == nil && m.s.Outcome == nil && m.needsDevice()
	switch {
	case needed && !d.Awaiting:
		d.Awaiting, d.Since = true, m.at
		m.do(AwaitDevice{DeviceID: m.s.Start.DeviceID, Newer: d.Refuted})
	case !needed && d.Awaiting:
		d.Awaiting, d.Since = false, 0
		m.do(StopAwaiting{})
	}
}

func (m *machine) needsDevice() bool {
	s := &m.s
	if s.Document == nil {
		return !m.stopping() && s.Planner.Context == nil && s.Planner.Tries < contextTries && !s.Planner.Asked
	}
	i := s.current()
	if i < 0 {
		return false
	}
	op := s.Steps[i].op()
	switch {
	case op.Phase.Dead():
		return !s.Steps[i].Verifying
	case op.Cloud:
		return false
	case op.Phase == OpUnsent:
		return !m.stopping()
	case m.stopping():
		return !op.Cancelling
	case s.Steps[i].Then != "" && op.CancelSent == "":
		return !op.Cancelling
	}
	return op.Lost && !op.Asking
}
