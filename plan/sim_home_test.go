package plan_test

import (
	"errand/plan"
)

// prepared looks at the home as whoever carries out a Prepare does.
func (s *sim) prepared(c plan.Prepare, h how) plan.Input {
	in := plan.Prepared{OperationID: c.OperationID, Report: s.untold, ConnectionEpoch: c.Route.ConnectionEpoch, Unseen: h != fine}
	if h != fine || s.untold != nil {
		return in
	}
	if c.Object != nil {
		if in.Candidates, in.Report = s.objects(c); in.Report != nil {
			return in
		}
	}
	in.StateVersion, _ = plan.BoundState(s.home, c.Binds)
	return in
}

// changed says what is no longer as a submit expects it.
func (s *sim) changed(e *plan.Expect) *plan.Report {
	if e == nil {
		return nil
	}
	if version, _ := plan.BoundState(s.home, e.Binds); version != e.StateVersion {
		return &plan.Report{Code: "STATE_CHANGED"}
	}
	if e.Target == nil {
		return nil
	}
	switch revision, there, _ := plan.Revision(s.home, e.Area, e.Target.ID); {
	case !there:
		return &plan.Report{Code: "TARGET_NOT_FOUND"}
	case revision != e.Target.Revision:
		return &plan.Report{Code: "STATE_CHANGED"}
	}
	return nil
}
