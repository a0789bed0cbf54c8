package workflows

import (
	"fmt"
	"strings"
	"time"

	"errand/internal/uitext"
	"errand/plan"
)

// details is how the plan stands as Markdown: what it is about and why, what a person can do, and its steps as a table.
func details(v plan.View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", v.State)
	if v.Why != "" {
		fmt.Fprintf(&b, " · %s", uitext.Plain(v.Why))
	}
	b.WriteString("\n\n")
	if v.DeviceName != "" {
		fmt.Fprintf(&b, "- device: %s\n", uitext.Plain(v.DeviceName))
	}
	if v.Next != nil {
		fmt.Fprintf(&b, "- if nothing comes until %s: %s\n", clock(v.Next.At), uitext.Plain(v.Next.Move.Words()))
	}
	if q := v.Question; q != nil {
		for i, label := range q.Labels() {
			fmt.Fprintf(&b, "- %s: %s\n", uitext.Code(q.Choices[i]), uitext.Plain(label))
		}
		fmt.Fprintf(&b, "- choices: %s\n", uitext.Plain(strings.Join(q.Choices, ", ")))
		fmt.Fprintf(&b, "- to answer: More Actions, Send an Update, %s with %s\n", uitext.Code(plan.UpdateAnswer),
			uitext.Code(sampleAnswer(q)))
	}
	if v.Outcome != nil && v.Outcome.TTSResponse != "" {
		fmt.Fprintf(&b, "- for the person: %s\n", uitext.Plain(v.Outcome.TTSResponse))
	}
	if len(v.Steps) == 0 {
		return b.String()
	}
	b.WriteString("\n| step | what | state | why | until |\n|---|---|---|---|---|\n")
	for _, s := range v.Steps {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.ID, uitext.Plain(s.What()), s.State, uitext.Plain(s.Why), clock(s.Until))
	}
	return b.String()
}

// clock shows a time of Unix milliseconds, "" for none. Who looks may be anywhere: it is UTC, and says so.
func clock(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("Jan 2, 15:04:05 UTC")
}

// sampleAnswer is an answer to copy from. Whoever may send updates may consent.
func sampleAnswer(q *plan.Question) string {
	consent := ""
	if q.Consent != "" {
		consent = `, "may_confirm": true`
	}
	return fmt.Sprintf(`{"question_id": %q, "choice": %q, "by": "your name"%s}`, q.ID, q.Choices[0], consent)
}
