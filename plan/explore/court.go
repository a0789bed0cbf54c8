package explore

import (
	"fmt"
)

// Law is one law of the design (§5), as far as it can be seen at the machine and in the ledger of the world around it.
type Law struct {
	Number int
	// Met says when the law has something to say: how often that was is counted, so that none holds for want of a case.
	Met string
}

// Laws lists the laws that are checked. Law 17 (fresh or absent) is about what contexts say: nothing here has an age.
var Laws = []Law{
	{1, "a step with dependencies is submitted"},
	{2, "a step is submitted"},
	{3, "a value is bound, or cannot be"},
	{4, "a result with an unlisted field comes in"},
	{5, "an operation is admitted or goes on, or one is completed"},
	{6, "something comes that belongs to nothing, or to a superseded try"},
	{7, "a report comes again"},
	{8, "two reports are under way at once, or one beats an acknowledgement"},
	{9, "an operation is unknown, or is taken for dead"},
	{10, "an end is reported of what is unknown, or superseded"},
	{11, "an operation is tried or sent again, or moves the device"},
	{12, "a decision is asked for"},
	{13, "a decision was spent, or a step tried again"},
	{14, "the plan is changed, or somebody tries"},
	{15, "the plan is being stopped, or is over"},
	{16, "a question is answered, or not, or another's answer comes"},
	{18, "a plan waits"},
	{19, "a plan is over that sent something"},
	{20, "a plan is over"},
	{21, "a step is submitted, or the lease is given back"},
}

// numberOfLaws is one more than the highest number of a law.
const numberOfLaws = 22

// Violation is a law that was broken.
type Violation struct {
	Law  int
	Text string
}

func (v *Violation) String() string { return fmt.Sprintf("Law%02d: %s", v.Law, v.Text) }

// court counts when each law was asked, and keeps the first violation of each.
type court struct {
	met    [numberOfLaws]int64
	broken [numberOfLaws]*Violation
	canon  *canon
	step   Machine
	noises []noisy // room, used again and again
	// aside says what was tried beside the history, while something is.
	aside string
}

func (c *court) meets(law int) { c.met[law]++ }

func (c *court) violated(law int, format string, args ...any) {
	if c.broken[law] == nil {
		c.broken[law] = &Violation{Law: law, Text: fmt.Sprintf(format, args...) + c.aside}
	}
}

// transition holds one move against the laws.
func (c *court) transition(t *Transition) {
	c.commands(t)
	c.truth(t)
	c.reports(t)
	c.questions(t)
	c.plans(t)
	c.ledger(t)
	c.consented(t)
	c.stopping(t)
	if t.After.State.Outcome != nil {
		c.outcome(t.After)
		return
	}
	c.waits(t.After)
}
