package plan

import (
	"errand/catalog"
	"errand/internal/border"
)

// Claims faults every slot that a model's steps fill and that is a person's: who speaks, and how far a device may go (law 14),
// and which object of the home is meant, where it must say by what to find it. Steps of a person's plan may fill them.
func Claims(steps []StepSpec, slice *catalog.Slice) (faults border.Faults) {
	for i, st := range steps {
		c, ok := slice.Capability(st.Action.CapabilityID)
		if !ok {
			continue // the gate faults that
		}
		for _, slot := range c.Slots {
			if !slot.Personal() {
				continue
			}
			if _, given := st.Action.Arguments[slot.Name]; given {
				faults = append(faults, claim(stepPath(i, "action.arguments."+slot.Name)))
			}
			if _, bound := st.InputFrom[slot.Name]; bound {
				faults = append(faults, claim(stepPath(i, "input_from."+slot.Name)))
			}
		}
	}
	return faults
}

func claim(path string) border.Fault {
	return border.Fault{Path: path, Code: "claims_authority", Message: "is not a model's to say: leave it out"}
}
