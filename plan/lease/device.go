package lease

import (
	"fmt"
	"slices"

	"errand/plan"
)

// linked takes up that the device connected or is gone, and passes it on to the plan that moves it. A connection older
// than one that was told says nothing any more.
func (m *machine) linked(in plan.DeviceChange) {
	d := &m.s.Device
	epoch := in.Gone
	if in.Route != nil {
		epoch = in.Route.ConnectionEpoch
	}
	if epoch < d.Seen || (in.Route != nil && epoch <= max(d.Seen, d.Refuted)) {
		return
	}
	if in.Route != nil {
		m.connected(*in.Route)
	} else {
		d.Seen = epoch
		m.refute(epoch)
	}
	if h := m.s.Holder; h != nil {
		m.tell(h.PlanID, plan.Signal{Device: &in})
	}
}

// connected takes up a new connection: what was to be cancelled is cancelled (again), and the device says what it runs.
func (m *machine) connected(route plan.Route) {
	d := &m.s.Device
	d.Route, d.Seen = &route, route.ConnectionEpoch
	m.wantList(m.at)
	for i := range m.s.Unsettled {
		op := &m.s.Unsettled[i]
		op.Asks, op.CheckAt, op.Listing = 0, m.at, false
		if !op.Out {
			op.Cancel = ""
		}
	}
}

// deviceFound takes the answer of AwaitDevice. The search believes in a refuted connection again if that stays alive.
func (m *machine) deviceFound(route plan.Route) {
	d := &m.s.Device
	if !d.Awaiting {
		return
	}
	d.Awaiting = false
	switch {
	case d.Route != nil && d.Route.ConnectionEpoch >= route.ConnectionEpoch:
	case route.ConnectionEpoch > d.Seen:
		m.connected(route)
	default:
		d.Route = &route
	}
}

// refute drops a route that turned out to be gone. A newer connection must be found.
func (m *machine) refute(epoch int64) {
	d := &m.s.Device
	if d.Route != nil && d.Route.ConnectionEpoch > epoch {
		return
	}
	d.Route, d.Refuted = nil, max(d.Refuted, epoch)
}

// reach keeps one AwaitDevice out while something is unsettled and no route is known, and none otherwise.
func (m *machine) reach() {
	d := &m.s.Device
	needed := d.Route == nil && !m.s.settled()
	switch {
	case needed && !d.Awaiting:
		d.Awaiting = true
		m.do(AwaitDevice{plan.AwaitDevice{DeviceID: m.s.DeviceID, Newer: d.Refuted}})
	case !needed && d.Awaiting:
		d.Awaiting = false
		m.do(StopAwaiting{})
	}
}

// wantList makes the device be asked for its tasks, at that time or sooner.
func (m *machine) wantList(at int64) {
	d := &m.s.Device
	if !d.WantList || d.ListAt > at {
		d.WantList, d.ListAt = true, at
	}
}

// list asks the device what it runs, once per reason to. Operations that left a tombstone before are answered for by it.
func (m *machine) list() {
	d := &m.s.Device
	for _, op := range m.s.Unsettled {
		if m.s.tombstoned(op) && !op.Listing {
			m.wantList(op.CheckAt)
		}
	}
	if !d.WantList || d.Listing || d.Route == nil || m.at < d.ListAt {
		return
	}
	d.WantList, d.Listing, d.ListedAt = false, true, m.at
	for i := range m.s.Unsettled {
		op := &m.s.Unsettled[i]
		op.Listing = m.s.tombstoned(*op)
	}
	m.do(ListTasks{Route: *d.Route, DeviceID: m.s.DeviceID})
}

// tasksListed takes the device's word on what it runs.
func (m *machine) tasksListed(in TasksListed) {
	d := &m.s.Device
	if !d.Listing {
		return
	}
	d.Listing = false
	if in.Listing == Unreachable {
		m.refute(in.ConnectionEpoch)
		m.wantList(m.at)
		for i := range m.s.Unsettled {
			m.s.Unsettled[i].Listing = false
		}
		return
	}
	m.buried(in)
	if in.Listing != Listed {
		return
	}
	m.orphans(in.Operations)
	switch {
	case m.s.Unlisted == 0:
	case d.ListedAt < m.s.Unlisted:
		m.wantList(m.s.Unlisted)
	case in.Partial: // what waits in its queue may be of that plan: look again when that runs
		m.wantList(m.at + relist)
	default:
		m.s.Unlisted = 0
	}
}

// buried settles the operations that left a tombstone, unless the device says all the same that it runs them. Where it
// cannot say what it runs, its word that it does not know the operation must do.
func (m *machine) buried(in TasksListed) {
	kept := m.s.Unsettled[:0]
	for _, op := range m.s.Unsettled {
		switch {
		case !op.Listing:
			kept = append(kept, op)
		case slices.Contains(in.Operations, op.ID):
			op.Listing, op.Cancel, op.CheckAt, op.Asks = false, "", m.at+backoff(op.Asks), op.Asks+1
			kept = append(kept, op)
		}
	}
	m.s.Unsettled = kept
}

// orphans are tasks that the device runs for a plan that does not hold the lease. They are stopped.
func (m *machine) orphans(ids []string) {
	for _, id := range ids {
		op, err := plan.ParseOperationID(id)
		if err != nil {
			continue // none of ours
		}
		if h := m.s.Holder; h != nil && h.PlanID == op.Plan {
			continue
		}
		if m.unsettle(id, op.Plan, "the device was found running it, for a plan that does not hold the lease") {
			m.quarantine(op.Plan, fmt.Sprintf("the device was found working for plan %s, which does not hold the lease", op.Plan), m.at+hardAfter)
		}
	}
}
