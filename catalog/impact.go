package catalog

import "slices"

// Impact says how much a mistake costs. An unknown one counts as irreversible.
type Impact string

// The impacts, from the least to the gravest.
const (
	ReadOnly     Impact = "read_only"    // leaves nothing behind
	Reversible   Impact = "reversible"   // passing, and easily undone
	Persistent   Impact = "persistent"   // stays in an account or a home until somebody undoes it
	Irreversible Impact = "irreversible" // reaches other people or the world, and cannot be taken back
)

// Impacts lists every Impact, from the least to the gravest.
func Impacts() []Impact { return []Impact{ReadOnly, Reversible, Persistent, Irreversible} }

// Grave reports whether a person has a say before it happens (design §7). What is unknown is grave.
func (i Impact) Grave() bool { return i != ReadOnly && i != Reversible }

// Policy is what an impact asks of whoever carries it out (contract.md §9).
type Policy struct {
	// Confirm is when a person confirms: ConfirmAlways, ConfirmFromModel or ConfirmNever.
	Confirm ConfirmPolicy `json:"confirm"`
	// Verify says that a completion which nobody could check is asked about before the plan goes on.
	Verify bool `json:"verify"`
	// Retries bounds what the reason table's recovery may try by itself, whatever its row says.
	Retries int `json:"retries"`
	// Start lists who may put such a step in a plan: StartedByPerson, StartedByModel, StartedByWatch.
	Start []string `json:"start"`
}

// ConfirmPolicy is when a person confirms a step before it is carried out.
type ConfirmPolicy string

// The confirm policies.
const (
	ConfirmAlways    ConfirmPolicy = "always"
	ConfirmFromModel ConfirmPolicy = "persistent_from_model" // where a model put it in the plan
	ConfirmNever     ConfirmPolicy = "never"
)

// Who may start a step.
const (
	StartedByPerson = "person" // by a sentence that a routine takes, or a plan of their own
	StartedByModel  = "model"
	StartedByWatch  = "watch" // what a device saw started it: nobody asked
)

// Confirm is a capability's own policy, in place of its impact's, and what a confirmation is bound to.
type Confirm struct {
	Policy ConfirmPolicy `json:"policy"`
	// Binds are paths into the device's context ("context.security.state"): when one of them changes after the question, the
	// answer no longer counts.
	Binds []string `json:"binds,omitempty"`
}

// strict is the policy of an impact that the catalog does not know: the gravest.
var strict = Policy{Confirm: ConfirmAlways, Verify: true, Start: []string{StartedByPerson, StartedByModel}}

// lenient is the policy of the lesser impacts where a slice carries no table.
var lenient = Policy{Confirm: ConfirmNever, Retries: maxInt, Start: []string{StartedByPerson, StartedByModel, StartedByWatch}}

const maxInt = int(^uint(0) >> 1)

// Policy is what holds for a capability: its impact's row, with its own confirm policy if it has one. An irreversible
// operation is always confirmed, whatever anyone wrote.
func (s *Slice) Policy(c *Capability) Policy {
	p, known := s.Impacts[c.Impact]
	switch {
	case !known && c.Impact.Grave():
		p = strict
	case !known:
		p = lenient
	}
	if c.Confirm != nil {
		p.Confirm = c.Confirm.Policy
	}
	if c.Impact != ReadOnly && c.Impact != Reversible && c.Impact != Persistent {
		p.Confirm = ConfirmAlways
	}
	return p
}

// Confirms reports whether a person confirms such a step. What a model puts in a plan above reversible is always confirmed
// (law 14).
func (p Policy) Confirms(impact Impact, fromModel bool) bool {
	return p.Confirm == ConfirmAlways || (fromModel && (p.Confirm == ConfirmFromModel || impact.Grave()))
}

// Starts reports whether such a step may be put in a plan by whoever is named; "" is the machine's own, and may.
func (p Policy) Starts(by string) bool { return by == "" || slices.Contains(p.Start, by) }
