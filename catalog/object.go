package catalog

// GroundingObject is the grounding of a slot that names one object of the home, such as one alarm of several. A plan may leave
// it out, though it is required: then it is chosen just before the step, by what the plan says about it, and where that fits
// several, by a person.
const GroundingObject = "object"

// Object says where the objects of a slot are found, and how a person tells one from another.
type Object struct {
	// Area is an area of the device's context whose `items` are the objects. Each item has an `id` that is never used again and
	// a `revision` that changes whenever the object does.
	Area string `json:"area"`
	// Match names other slots of the capability, each with the field of an item that must equal it, as far as it is given:
	// "time: time" leaves the alarms of that time.
	Match map[string]string `json:"match,omitempty"`
	// Choice is one item in words, with its fields: "{time} {label}".
	Choice Text `json:"choice"`
}

// Personal reports whether a slot is a person's to fill, and not a model's: who may do what, and which object is meant.
func (s *Slot) Personal() bool {
	return s.Grounding == GroundingAuthority || s.Grounding == GroundingObject
}

// ObjectSlot returns the slot that names an object of the home; nil if the capability acts on none.
func (c *Capability) ObjectSlot() *Slot {
	for i := range c.Slots {
		if c.Slots[i].Grounding == GroundingObject && c.Slots[i].Object != nil {
			return &c.Slots[i]
		}
	}
	return nil
}
