package workflows

import (
	"strings"
	"testing"

	"errand/plan"
)

// What stands in Temporal's UI, word by word. The question, the name and the reason are of other people's making.
func TestTheCurrentDetailsAreReadableAndNothingInThemIsMarkup(t *testing.T) {
	got := details(plan.View{State: plan.WaitingUser, DeviceName: "거실 <b>로봇</b>", Why: "a person must answer: 다시 할까요?",
		Next:     &plan.Next{At: 1_796_068_411_000, Move: plan.MoveNoAnswer},
		Question: &plan.Question{ID: "p-1.1", Text: "다시 할까요?", Choices: []string{"retry", "stop"}},
		Steps: []plan.StepView{
			{ID: "move", CapabilityID: "move_to_room", Arguments: map[string]any{"position_name": "안방"}, State: plan.StepCompleted, Why: "verified"},
			{ID: "purify", CapabilityID: "stationary_purify", State: plan.StepBlocked, Why: "BAD: ![a](http://b) | c\nd", Until: 1_796_068_500_000},
		}})
	const want = "**waiting_user** · a person must answer: 다시 할까요?\n\n" +
		"- device: 거실 \\<b\\>로봇\\</b\\>\n" +
		"- if nothing comes until Nov 30, 19:53:31 UTC: no answer is taken as no\n" +
		"- choices: retry, stop\n" +
		"- to answer: More Actions, Send an Update, `answer` with `{\"question_id\": \"p-1.1\", \"choice\": \"retry\", \"by\": \"your name\"}`\n" +
		"\n| step | what | state | why | until |\n|---|---|---|---|---|\n" +
		"| move | move_to_room (position_name=안방) | completed | verified |  |\n" +
		"| purify | stationary_purify | blocked | BAD: !\\[a\\](http://b) \\| c d | Nov 30, 19:55:00 UTC |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheCurrentDetailsOfAnEndSayWhatThePersonIsTold(t *testing.T) {
	got := details(plan.View{State: plan.Failed, Why: "purify: MOVE_POLICY_NOT_ALLOWED", Outcome: &plan.Outcome{TTSResponse: "못 했어요."}})
	const want = "**failed** · purify: MOVE_POLICY_NOT_ALLOWED\n\n- for the person: 못 했어요.\n"
	if got != want || strings.Contains(got, "until") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
