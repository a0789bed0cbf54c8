package gateway_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"errand/deviceio/gateway"
	"errand/plan"
)

// signal is one call of the signaller.
type signal struct {
	workflowID, requestID string
	sent                  plan.Signal
}

// signals is a signaller that keeps what it got, or fails as told.
type signals struct {
	arrived chan signal
	tries   atomic.Int64 // calls so far, those that fail included
	mu      sync.Mutex
	answer  error
	owners  map[string]gateway.Owner
	hold    chan struct{} // if set, calls wait for it or their context
}

var _ gateway.Signaller = (*signals)(nil)

func (s *signals) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = err
}

func (s *signals) Signal(ctx context.Context, workflowID, requestID string, sent plan.Signal) error {
	s.tries.Add(1)
	s.mu.Lock()
	answer, hold := s.answer, s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if answer == nil {
		s.arrived <- signal{workflowID, requestID, sent}
	}
	return answer
}

// OwnerOf is what the test says; by default it cannot be told.
func (s *signals) OwnerOf(_ context.Context, workflowID string) (gateway.Owner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[workflowID], nil
}

// own makes the plan one of that device, in the default home.
func (s *signals) own(workflowID, deviceID string) {
	s.ownAt(workflowID, gateway.Owner{DeviceID: deviceID})
}

func (s *signals) ownAt(workflowID string, owner gateway.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = make(map[string]gateway.Owner)
	}
	s.owners[workflowID] = owner
}

// none checks that nothing more was signalled.
func (s *signals) none(t *testing.T) {
	t.Helper()
	select {
	case got := <-s.arrived:
		t.Errorf("an unexpected signal: %+v", got)
	default:
	}
}
