package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"

	"errand/plan"
)

// line is one thing that the plan's record tells: what was asked of the device, what it answered, what it told, what was wished.
type line struct {
	what      string // an activity's name, that with " answered", "event", or "cancel taken"
	operation string
	said      string         // the answer in one word, or the event's name
	over      plan.EventName // the terminal that came with it
}

// planRecord is a plan's history, as far as it is about the device and the plan's end.
type planRecord []line

// record reads the plan's history.
func (c *caseTrial) record() planRecord {
	c.t.Helper()
	var lines planRecord
	for _, run := range c.runs() {
		lines = append(lines, recordOf(run)...)
	}
	return lines
}

// runs returns the histories of the plan's runs, oldest first.
func (c *caseTrial) runs() (runs []*history.History) {
	c.t.Helper()
	last := c.history("")
	id := last.Events[0].GetWorkflowExecutionStartedEventAttributes().FirstExecutionRunId
	for id != "" {
		run := c.history(id)
		runs = append(runs, run)
		id = run.Events[len(run.Events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return runs
}

// history is that of one run; "" means the last.
func (c *caseTrial) history(run string) *history.History {
	c.t.Helper()
	h := &history.History{}
	for events := c.stack.Temporal.GetWorkflowHistory(context.Background(), c.plan.ID, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			c.t.Fatalf("history of %s: %v", c.plan.ID, err)
		}
		h.Events = append(h.Events, event)
	}
	return h
}

// recordOf reads the history of one run. What a run asks comes back in it: it is not renewed before.
func recordOf(run *history.History) (lines planRecord) {
	asked := map[int64]line{}
	wishes := map[int64]string{}
	closed := func(id int64, said string, over plan.EventName) {
		l := asked[id]
		lines = append(lines, line{what: l.what + " answered", operation: l.operation, said: said, over: over})
	}
	for _, e := range run.Events {
		switch e.EventType {
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			a := e.GetActivityTaskScheduledEventAttributes()
			l := line{what: a.ActivityType.Name, operation: unpack[plan.QueryStatus](a.Input).OperationID}
			asked[e.EventId] = l
			lines = append(lines, l)
		case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			a := e.GetActivityTaskCompletedEventAttributes()
			said, over := saidIn(a.Result)
			closed(a.ScheduledEventId, said, over)
		case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
			closed(e.GetActivityTaskFailedEventAttributes().ScheduledEventId, "failed", "")
		case enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
			a := e.GetActivityTaskTimedOutEventAttributes()
			closed(a.ScheduledEventId, timedOut(a), "")
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			if s := unpack[plan.Signal](e.GetWorkflowExecutionSignaledEventAttributes().Input); s.Event != nil {
				l := line{what: "event", operation: s.Event.OperationID, said: string(s.Event.Name)}
				if s.Event.Name.Terminal() {
					l.over = s.Event.Name
				}
				lines = append(lines, l)
			}
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
			wishes[e.EventId] = e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetName()
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED:
			if wishes[e.GetWorkflowExecutionUpdateCompletedEventAttributes().AcceptedEventId] == plan.UpdateCancel {
				lines = append(lines, line{what: "cancel taken"})
			}
		default: // tells nothing of the device
		}
	}
	return lines
}

// timedOut tells a call that nobody took up from one that nobody answered.
func timedOut(a *history.ActivityTaskTimedOutEventAttributes) string {
	if a.GetFailure().GetTimeoutFailureInfo().GetTimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START {
		return string(plan.DeliveryUndelivered)
	}
	return string(plan.DeliveryUnknown)
}

// saidIn reads an activity's answer: its one word, and the terminal in it.
func saidIn(p *commonpb.Payloads) (said string, over plan.EventName) {
	a := unpack[struct {
		Delivery plan.Delivery   `json:"delivery"`
		Finding  plan.Finding    `json:"finding"`
		Case     plan.CancelCase `json:"case"`
		Verdict  plan.Verdict    `json:"verdict"`
		Terminal *plan.Event     `json:"terminal"`
	}](p)
	if a.Terminal != nil {
		over = a.Terminal.Name
	}
	return cmp.Or(string(a.Delivery), string(a.Finding), string(a.Case), string(a.Verdict)), over
}

// unpack reads what a message or an activity carries; what is not of this kind is left empty.
func unpack[T any](p *commonpb.Payloads) (v T) {
	if list := p.GetPayloads(); len(list) > 0 {
		_ = json.Unmarshal(list[0].Data, &v)
	}
	return v
}

func (l line) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", l.what, l.operation, l.said, l.over))
}

// count tells how often a thing stands in the record; "" for what was said means whatever it was.
func (r planRecord) count(what, operation, said string) (n int) {
	for _, l := range r {
		if l.what == what && l.operation == operation && (said == "" || l.said == said) {
			n++
		}
	}
	return n
}

// index is where a thing stands first, or -1.
func (r planRecord) index(what, operation string) int {
	return slices.IndexFunc(r, func(l line) bool { return l.what == what && l.operation == operation })
}

// awaitRecord waits until the record tells something.
func (c *caseTrial) awaitRecord(what string, holds func(planRecord) bool) {
	c.t.Helper()
	c.await(what, func(plan.View) bool { return holds(c.record()) })
}

// tellRecord logs what happened, for whoever has to find out why.
func (c *caseTrial) tellRecord() {
	if c.plan == nil {
		return
	}
	for _, l := range c.record() {
		c.t.Log("  record:", l)
	}
	v, err := c.plan.Look(c.t.Context())
	if err != nil {
		c.t.Log("  no journal:", err)
	}
	for _, e := range v.Journal {
		c.t.Logf("  journal: %d %d %s %s %s→%s %s", e.N, e.At, e.Kind, e.Step, e.From, e.To, e.Text)
	}
}
