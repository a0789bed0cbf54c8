package certificate

import "time"

// schedule is certificates by the moment from which each is used, the oldest first: which one is in use the clock says alone, so
// nothing has to happen at the moment of the switch.
type schedule []*Certificate

func (s schedule) newest() *Certificate { return s[len(s)-1] }

// at is how the schedule stands at a moment.
func (s schedule) at(now time.Time) (st Standing) {
	for _, c := range s {
		if st.InUse == nil || !c.From.After(now) {
			st.InUse = c
		} else if st.Next == nil {
			st.Next = c
		}
	}
	return st
}

// add makes c the next one, used in lead from now, and forgets what is over and what was to be next. The first of all is used at once, and so
// is c where the one in use expires earlier. The one in use put in again takes back what was to be next.
func (s schedule) add(c *Certificate, now time.Time, lead time.Duration) schedule {
	if len(s) == 0 {
		c.From = now
		return schedule{c}
	}
	used := s.at(now).InUse
	if c.Fingerprint == used.Fingerprint {
		return schedule{used}
	}
	c.From = now.Add(lead)
	if used.Until.Before(c.From) {
		c.From = later(used.Until, now)
	}
	return schedule{used, c}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
