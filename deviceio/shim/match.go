package shim

import (
	"errand/deviceio/wire"
)

// match finds the operation that a vendor's event is about. Called with the lock.
//
// By the vendor's task id, if the trace does not say otherwise: a vendor that restarted may give an id out again, and then the
// one that goes on counts, or else the newest. By the trace alone only for an operation whose task id the vendor never told:
// its answer was lost, or is still under way. hold says that it may be about a submit whose answer is under way.
func (s *Shim) match(e wire.TaskEvent) (op *operation, hold bool) {
	if known := s.byVendorID(e.TaskID, e.Trace); known != nil {
		return known, false
	}
	var nameless []*operation
	for _, o := range s.memory.operations {
		if o.VendorID == "" && o.Phase != over && o.agrees(e.Trace) && (e.TaskMethod == "" || e.TaskMethod == o.Method) {
			nameless = append(nameless, o)
		}
	}
	if e.TaskID != "" && named(e.Trace) && len(nameless) == 1 {
		return nameless[0], false
	}
	for _, o := range nameless {
		if s.calls[o.ID] != nil {
			return nil, true
		}
	}
	return nil, false
}

func (s *Shim) byVendorID(vendorID string, t wire.Trace) (found *operation) {
	if vendorID == "" {
		return nil
	}
	for _, o := range s.memory.operations {
		switch {
		case o.VendorID != vendorID || !o.agrees(t):
		case found == nil, found.Phase == over && o.Phase != over, (found.Phase == over) == (o.Phase == over) && o.SentAt > found.SentAt:
			found = o
		}
	}
	return found
}
