package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"errand/plan"
)

// standing prints how a plan stands: what Temporal's UI shows as its current details, in the same words.
func standing(out io.Writer, v plan.View, zone *time.Location) {
	fmt.Fprintf(out, "plan       %s\n", clean(v.PlanID))
	fmt.Fprintf(out, "device     %s\n", clean(strings.TrimSpace(v.DeviceName+" "+v.DeviceID)))
	fmt.Fprintf(out, "state      %s\n", v.State)
	if v.Why != "" {
		fmt.Fprintf(out, "why        %s\n", oneLine(v.Why))
	}
	if v.Next != nil {
		fmt.Fprintf(out, "by itself  if nothing comes until %s: %s\n", clock(v.Next.At, zone), v.Next.Move.Words())
	}
	if q := v.Question; q != nil {
		for i, label := range q.Labels() {
			fmt.Fprintf(out, "           %s: %s\n", clean(q.Choices[i]), oneLine(label))
		}
		fmt.Fprintf(out, "choices    %s\n", oneLine(strings.Join(q.Choices, ", ")))
		fmt.Fprintf(out, "to answer  errand plan answer %s %s %s\n", clean(v.PlanID), clean(q.ID), clean(q.Choices[0]))
	}
	if len(v.Steps) == 0 {
		return
	}
	rows := [][]string{{"STEP", "WHAT", "STATE", "WHY", "UNTIL"}}
	for _, s := range v.Steps {
		rows = append(rows, []string{clean(s.ID), oneLine(s.What()), string(s.State), orDash(oneLine(s.Why)), orDash(clock(s.Until, zone))})
	}
	fmt.Fprintln(out)
	table(out, rows)
}

// clock shows a time of Unix milliseconds, "" for none.
func clock(ms int64, zone *time.Location) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).In(zone).Format("Jan 2, 15:04:05 MST")
}

// oneLine keeps text from outside from beginning a line of its own.
func oneLine(text string) string { return clean(strings.Join(strings.Fields(text), " ")) }
