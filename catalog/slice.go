package catalog

import "maps"

// Slice returns the part of the catalog that a plan over the named capabilities needs.
// The order is the catalog's own, so that the same plan always gets the same slice.
// Reasons and sentences come whole: a device may report any code. So does the safe return, which any plan may need.
func (c *Catalog) Slice(capabilityIDs []string) Slice {
	wanted := make(map[string]bool, len(capabilityIDs))
	for _, id := range capabilityIDs {
		wanted[id] = true
	}
	if c.SafeReturn != nil {
		wanted[c.SafeReturn.CapabilityID] = true
	}
	for _, capability := range c.Capabilities {
		if wanted[capability.ID] && capability.ReadBack != "" {
			wanted[capability.ReadBack] = true
		}
	}
	s := Slice{CatalogVersion: c.CatalogVersion, Digest: c.Digest, Impacts: c.Impacts, Reasons: c.Reasons, Sentences: c.Sentences, SafeReturn: c.SafeReturn}
	for _, capability := range c.Capabilities {
		if wanted[capability.ID] {
			s.Capabilities = append(s.Capabilities, capability)
		}
	}
	return s
}

// Whole returns the catalog as one slice, for validating a plan whose capabilities are not yet known.
func (c *Catalog) Whole() Slice {
	return Slice{CatalogVersion: c.CatalogVersion, Digest: c.Digest, Impacts: c.Impacts, Capabilities: c.Capabilities,
		Reasons: c.Reasons, Sentences: c.Sentences, SafeReturn: c.SafeReturn}
}

// Capability finds a capability by id.
func (s *Slice) Capability(id string) (*Capability, bool) {
	for i := range s.Capabilities {
		if s.Capabilities[i].ID == id {
			return &s.Capabilities[i], true
		}
	}
	return nil, false
}

// UnknownReason is what a code outside the table means: nothing is tried, someone decides, nobody means stop.
var UnknownReason = Reason{
	Code: "UNKNOWN", Class: "unknown", Recoverability: "permanent", RequiresDecision: true,
	Recovery: Recovery{Action: "none"}, Default: "cancel",
	Say: Text{Ko: "알 수 없는 이유로 멈췄어요.", En: "It stopped for a reason I do not know."},
}

// What is said at the end of a plan that never came to a catalog, and so to no step, unless its planner had a word to say.
var (
	UnbegunCancelled = Text{Ko: "취소했어요. 시작한 일은 없어요.", En: "I cancelled it. Nothing had been started."}
	UnbegunFailed    = Text{Ko: "부탁하신 일을 시작하지 못했어요.", En: "I could not start what you asked for."}
)

// Reason looks a code up; a code that is not in the table gets the safe default.
func (s *Slice) Reason(code string) Reason {
	for i := range s.Reasons {
		if s.Reasons[i].Code == code {
			return s.Reasons[i]
		}
	}
	r := UnknownReason
	if code != "" {
		r.Code = code
	}
	return r
}

// HasOperation reports whether the capability offers the operation.
func (c *Capability) HasOperation(id string) bool {
	for _, op := range c.Operations {
		if op == id {
			return true
		}
	}
	return false
}

// Slot finds a declared slot.
func (c *Capability) Slot(name string) (*Slot, bool) {
	for i := range c.Slots {
		if c.Slots[i].Name == name {
			return &c.Slots[i], true
		}
	}
	return nil, false
}

// Sent is what a task carries: the step's arguments, and the capability's own params, which no argument can change.
func (c *Capability) Sent(arguments map[string]any) map[string]any {
	if len(c.Params) == 0 {
		return arguments
	}
	sent := make(map[string]any, len(arguments)+len(c.Params))
	maps.Copy(sent, arguments)
	maps.Copy(sent, c.Params)
	return sent
}

// Repeatable reports whether it may be done again though nobody knows whether it was done: it leaves nothing behind, or the same.
func (c *Capability) Repeatable() bool { return c.Impact == ReadOnly || c.Idempotent }

// RunsOn reports whether the capability is offered on "device" or "cloud".
func (c *Capability) RunsOn(target string) bool {
	if len(c.Targets) == 0 {
		return target == "device"
	}
	for _, t := range c.Targets {
		if t == target {
			return true
		}
	}
	return false
}

// Field finds a listed result field.
func (r *ResultContract) Field(name string) (*ResultField, bool) {
	for i := range r.BindableResultFields {
		if r.BindableResultFields[i].Name == name {
			return &r.BindableResultFields[i], true
		}
	}
	return nil, false
}

// With returns the slice with the capabilities of another of the same catalog added.
func (s Slice) With(more *Slice) Slice {
	if more == nil {
		return s
	}
	all := s.Capabilities[:len(s.Capabilities):len(s.Capabilities)]
	for _, capability := range more.Capabilities {
		if _, ok := s.Capability(capability.ID); !ok {
			all = append(all, capability)
		}
	}
	s.Capabilities = all
	return s
}
