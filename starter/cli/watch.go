package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"errand/plan"
	"errand/starter/api"
	"errand/starter/plans"
)

// printer prints a plan's changes, a line each.
type printer struct {
	out io.Writer
	// verbose prints every entry of the journal, not just changes of state and notes.
	verbose bool
	zone    *time.Location
	// now is how the plan stood when the watch began; it is printed after the entry that is its last.
	now *plan.View
}

func (p *printer) tell(c plans.Change) {
	switch {
	case c.Entry != nil:
		p.entry(*c.Entry)
		if p.now != nil && p.now.Outcome == nil && c.Entry.N == p.now.Entries {
			fmt.Fprintln(p.out)
			standing(p.out, *p.now, p.zone)
			fmt.Fprintln(p.out)
		}
	case c.Bound != nil:
		b := c.Bound
		fmt.Fprintf(p.out, "%s%s: %s = %s  ← %s (%s)\n", indent, clean(b.Step), clean(b.Slot), value(b.Value), clean(b.Path), clean(b.From))
	}
}

// indent is as wide as the time in front of an entry.
const indent = "              "

func (p *printer) entry(e plan.Entry) {
	at := time.UnixMilli(e.At).In(p.zone).Format("15:04:05.000")
	who := e.Step
	if who == "" {
		who = "plan"
	}
	text := ""
	switch e.Kind {
	case "plan", "step":
		from := e.From
		if from == "" {
			from = "·"
		}
		text = from + " → " + e.To
		about := e.Text
		if e.Until > 0 {
			about = strings.TrimPrefix(about+", until "+time.UnixMilli(e.Until).In(p.zone).Format("15:04:05 MST"), ", ")
		}
		if about != "" {
			text += "  (" + about + ")"
		}
	case "note":
		text = e.Text
	default:
		if !p.verbose {
			return
		}
		text = strings.TrimSpace(e.Kind + " " + e.From + " " + e.To + " " + e.Text)
	}
	fmt.Fprintf(p.out, "%s  %-8s %s\n", at, clean(who), clean(text))
}

// summary prints how a plan ended.
func summary(out io.Writer, o plan.Outcome, link string) {
	fmt.Fprintf(out, "\noutcome    %s\n", o.State)
	if o.TTSResponse != "" {
		fmt.Fprintf(out, "sentence   %s\n", clean(o.TTSResponse))
	}
	if o.Reason != nil {
		fmt.Fprintf(out, "reason     %s\n", clean(strings.TrimSpace(o.Reason.Code+" "+o.Reason.Detail)))
	}
	if o.Cancel != nil {
		by := o.Cancel.By
		if o.Cancel.Why != "" {
			by += ": " + o.Cancel.Why
		}
		fmt.Fprintf(out, "cancelled  by %s\n", clean(by))
	}
	fmt.Fprintf(out, "verified   %d/%d steps\n", o.Verified, len(o.Steps))
	for _, s := range o.Steps {
		fmt.Fprintf(out, "           %-10s %s\n", clean(s.ID), clean(stepEnd(s)))
	}
	fmt.Fprintf(out, "LLM calls  %d\n", o.LLMCalls)
	if link != "" {
		fmt.Fprintf(out, "in the UI  %s\n", link)
	}
}

func stepEnd(s plan.StepOutcome) string {
	text := string(s.Phase)
	if s.Receipt != nil && s.Receipt.Verdict != "" {
		text += ", " + string(s.Receipt.Verdict)
		if s.Receipt.VerifiedBy != "" {
			text += " by " + s.Receipt.VerifiedBy
		}
	}
	if s.Reason != nil {
		text += ", " + s.Reason.Code
	}
	return text
}

// follow watches the plan to its end, prints it, and fails unless it completed.
func follow(ctx context.Context, c *client, p *printer, id, link string) error {
	outcome, err := c.watch(ctx, id, p.tell)
	if problem := (*api.Problem)(nil); errors.As(err, &problem) && problem.Code == api.CodeNoOutcome {
		return fmt.Errorf("%s; `errand plan show %s` says how it stood", problem.Detail, id)
	}
	if err != nil {
		return fmt.Errorf("plan %s goes on, watching it ended: %w", id, err)
	}
	if c.fleeting && link != "" {
		link += "  (until this ends; `make dev` keeps it)"
	}
	summary(p.out, outcome, link)
	return verdict(outcome)
}

// verdict is nil only for a plan that completed.
func verdict(o plan.Outcome) error {
	if o.State == plan.Completed {
		return nil
	}
	why := ""
	if o.Reason != nil {
		why = ", " + o.Reason.Code
	}
	return fmt.Errorf("plan %s did not complete: %s%s", o.PlanID, o.State, why)
}
