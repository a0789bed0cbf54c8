package tests

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"errand/plan"
	"errand/tests/stack"
)

// story is what an operator is told of a plan, by whomever.
type story struct {
	State, Why, Next string
	Steps            [][]string
}

// oneStory holds `errand plan show` and `errand plan watch` to what Temporal's UI shows.
func oneStory(t *testing.T, s *stack.Stack, p *stack.Plan) {
	printed, code := s.Errand(t, "plan", "show", p.ID)
	if code != 0 {
		t.Fatalf("plan show: exit %d\n%s", code, printed)
	}
	details := p.Metadata(t).GetCurrentDetails()
	shown, inUI := storyOfShow(printed), storyOfDetails(details)
	if diff := cmp.Diff(inUI, shown); diff != "" || inUI.State == "" || inUI.Why == "" {
		t.Errorf("the UI (-) and plan show (+) differ:\n%s\nthe UI:\n%s\nplan show:\n%s", diff, details, printed)
	}
	v := p.View(t)
	if inUI.State != string(v.State) || len(inUI.Steps) != len(v.Steps) || (v.Next != nil) != (inUI.Next != "") {
		t.Errorf("the UI says\n%s\nof %+v", details, v)
	}
	if got := p.Attribute(t, plan.AttributeState); got != inUI.State {
		t.Errorf("%s is %q, want %s", plan.AttributeState, got, inUI.State)
	}
	if v.Outcome == nil {
		standing, _, _ := strings.Cut(printed, "\n\nin the UI")
		s.ErrandUntil(t, standing+"\n", "plan", "watch", p.ID)
		return
	}
	watched, _ := s.Errand(t, "plan", "watch", p.ID)
	reason := ""
	if v.Outcome.Reason != nil {
		reason = v.Outcome.Reason.Code
	}
	if !strings.Contains(watched, "\noutcome    "+inUI.State+"\n") || !strings.Contains(watched, reason) || !strings.Contains(inUI.Why, reason) ||
		p.Attribute(t, plan.AttributeReason) != reason {
		t.Errorf("the plan ended %s for %q; the UI says %q, and plan watch:\n%s", v.State, reason, inUI.Why, watched)
	}
	for _, step := range v.Steps {
		line := fmt.Sprintf("\n           %-10s %s", step.ID, step.State)
		if step.Reason != nil {
			line += ", " + step.Reason.Code
		}
		if !strings.Contains(watched, line) {
			t.Errorf("plan watch does not say %q:\n%s", line, watched)
		}
	}
}

var (
	escaped = regexp.MustCompile(`\\(.)`)
	gap     = regexp.MustCompile(` {2,}`)
)

func storyOfDetails(details string) (told story) {
	text := escaped.ReplaceAllString(details, "$1")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "**"):
			state, why, _ := strings.Cut(strings.TrimPrefix(line, "**"), "** · ")
			told.State, told.Why = state, why
		case strings.HasPrefix(line, "- if nothing comes until "):
			told.Next = strings.TrimPrefix(line, "- ")
		case strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| step |"):
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				cells = append(cells, orDash(strings.TrimSpace(cell)))
			}
			told.Steps = append(told.Steps, cells)
		}
	}
	return told
}

func storyOfShow(printed string) (told story) {
	head, rest, _ := strings.Cut(printed, "\n\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = strings.TrimSpace(value)
		switch key {
		case "state":
			told.State = value
		case "why":
			told.Why = value
		case "by":
			told.Next = strings.TrimSpace(strings.TrimPrefix(value, "itself"))
		}
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	for line := range strings.Lines(table) {
		if cells := gap.Split(strings.TrimSpace(line), -1); len(cells) == 5 && cells[0] != "STEP" {
			told.Steps = append(told.Steps, cells)
		}
	}
	return told
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
