package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"errand/plan"
)

// shelf is a directory that answers what the test laid out, one entry a look; the last stays.
type shelf struct {
	routes []plan.Route
	err    error
}

func (s *shelf) Route(context.Context, string) (plan.Route, bool, error) {
	if s.err != nil || len(s.routes) == 0 {
		return plan.Route{}, false, s.err
	}
	route := s.routes[0]
	if len(s.routes) > 1 {
		s.routes = s.routes[1:]
	}
	return route, route.ConnectionEpoch > 0, nil
}

func await(t *testing.T, s *shelf, newer int64) (plan.DeviceFound, error) {
	t.Helper()
	now := time.UnixMilli(0)
	finder := &Finder{directory: s, now: func() time.Time { now = now.Add(time.Second); return now },
		ticks: func(context.Context) <-chan time.Time {
			always := make(chan time.Time)
			close(always)
			return always
		}}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(finder.AwaitDevice, activity.RegisterOptions{Name: plan.ActivityAwaitDevice})
	value, err := env.ExecuteActivity(plan.ActivityAwaitDevice, plan.AwaitDevice{DeviceID: "r1", Newer: newer})
	if err != nil {
		return plan.DeviceFound{}, err
	}
	var found plan.DeviceFound
	err = value.Get(&found)
	return found, err
}

func TestAwaitDeviceWaitsForAConnection(t *testing.T) {
	away := plan.Route{}
	found, err := await(t, &shelf{routes: []plan.Route{away, away, {ConnectionEpoch: 4}}}, 0)
	if err != nil || found.Route.ConnectionEpoch != 4 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAwaitDevicePrefersANewerConnectionThanARefutedOne(t *testing.T) {
	found, err := await(t, &shelf{routes: []plan.Route{{ConnectionEpoch: 4}, {ConnectionEpoch: 4}, {ConnectionEpoch: 5}}}, 4)
	if err != nil || found.Route.ConnectionEpoch != 5 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A gateway that was slow, not gone, keeps its connection: the plan must not wait for a newer one for ever (law 18).
func TestLaw18AwaitDeviceBelievesAConnectionThatStaysAlive(t *testing.T) {
	found, err := await(t, &shelf{routes: []plan.Route{{ConnectionEpoch: 4}}}, 4)
	if err != nil || found.Route.ConnectionEpoch != 4 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAwaitDeviceSaysWhatFailed(t *testing.T) {
	if _, err := await(t, &shelf{err: errors.New("disk full")}, 0); err == nil {
		t.Error("a broken directory was not reported")
	}
}
