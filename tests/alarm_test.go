package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// The fifth seed's scenario: two alarms ring at seven, and one of them is to be deleted. It is judged by the robot's ledger and
// by the alarms that are there in the end, never by what anybody says.

// deleting asks for an alarm to be deleted by what is said about it.
const deleting = `{"answer_within_ms":%d,"steps":[{"id":"delete","action":{"capability_id":"alarm_delete","operation_id":"delete","arguments":{"time":"07:00"}}}]}`

// patient is an answer_within_ms that no test waits for.
const patient = 120_000

// alarms is one plan on a robot of its own, whose home has the two alarms.
type alarms struct {
	*testing.T
	stack *stack.Stack
	robot *stack.Robot
	plan  *stack.Plan
	a, b  string // their ids: 출근 and 운동
}

func beginAlarms(t *testing.T, s *stack.Stack, within int, faults ...robot.Fault) *alarms {
	t.Helper()
	j := &alarms{T: t, stack: s, robot: s.Robot(t)}
	for _, f := range faults {
		j.robot.Fault(t, f)
	}
	for _, alarm := range j.there() {
		switch alarm.Label {
		case "출근":
			j.a = alarm.ID
		case "운동":
			j.b = alarm.ID
		}
	}
	j.plan = s.Submit(t, j.robot, fmt.Sprintf(deleting, within))
	return j
}

// there are the alarms that the robot has.
func (j *alarms) there() []robot.Alarm {
	j.Helper()
	state, err := j.robot.Control(j.T).State(j.Context())
	if err != nil {
		j.Fatal(err)
	}
	return state.World.Objects.Alarms
}

// asked waits for a question of a kind. Nothing was done by then.
func (j *alarms) asked(kind string) *plan.Question {
	j.Helper()
	v := j.plan.Await(j.T, "the person is asked: "+kind, func(v plan.View) bool { return v.Question != nil && v.Question.Kind == kind || v.State.Closed() })
	if v.Question == nil {
		j.Fatalf("nobody is asked %s: %s, %s", kind, v.State, v.Why)
	}
	wantEffects(j.T, j.robot)
	return v.Question
}

// answers answers through the API, and wants the answer taken.
func (j *alarms) answers(q *plan.Question, choice string) {
	j.Helper()
	j.plan.Answer(j.T, q.ID, choice)
}

// left holds which of the two alarms are there in the end, and that nothing else changed.
func (j *alarms) left(before []robot.Alarm, gone ...string) {
	j.Helper()
	var want []robot.Alarm
	for _, alarm := range before {
		if !slices.Contains(gone, alarm.ID) {
			want = append(want, alarm)
		}
	}
	if got := j.there(); !slices.Equal(got, want) {
		j.Errorf("the alarms are %+v, want %+v", got, want)
	}
	var deleted []string
	for _, e := range j.robot.Ledger(j.T) {
		deleted = append(deleted, e.TargetID)
	}
	if !slices.Equal(deleted, gone) {
		j.Errorf("the ledger says that %v went, want %v", deleted, gone)
	}
}

// says holds what the person heard in the end: the plan's own word, and the robot said it aloud.
func (j *alarms) says(o plan.Outcome, parts ...string) {
	j.Helper()
	for _, part := range parts {
		if !strings.Contains(o.TTSResponse, part) {
			j.Errorf("Law20: the person hears %q, want %q in it", o.TTSResponse, part)
		}
	}
}

func TestTwoAlarmsAtSeven(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack.Stack)
	}{
		{"Law16Accepted", alarmAccepted},
		{"Law16AcceptedByVoice", alarmByVoice},
		{"Law16Rejected", alarmRejected},
		{"Law16Silence", alarmSilence},
		{"Law16TheChoiceVanishes", alarmVanishes},
		{"Law16TheChoiceChanges", alarmChanges},
		{"Law07EverythingTwice", alarmTwice},
		{"Law20DoneButNotAsExpected", alarmBoast},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

func alarmAccepted(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient)
	before := j.there()
	q := j.asked("select")
	if want := []string{"07:00 출근 알람", "07:00 운동 알람"}; len(q.Options) != 2 || q.Options[0].Label != want[0] || q.Options[1].Label != want[1] {
		t.Fatalf("the choices are %+v, want %v", q.Options, want)
	}
	j.answers(q, j.b)
	q = j.asked("confirm")
	if !strings.Contains(q.Text, "07:00 운동 알람을 지울까요?") {
		t.Errorf("asks %q", q.Text)
	}
	j.answers(q, "yes")
	o := wantOutcome(t, j.plan, plan.Completed, "completed")
	j.left(before, j.b)
	j.says(o, "07:00 운동 알람을 지웠어요.")
	receipt := o.Steps[0].Receipt
	if receipt == nil || receipt.TargetRef != "alarms:"+j.b || receipt.Verdict != plan.Verified || receipt.PreStateRevision == "" ||
		receipt.Confirmation == nil || receipt.Confirmation.QuestionID != q.ID || receipt.Confirmation.By == "" {
		t.Errorf("receipt %+v", receipt)
	}
}

// The person answers with words.
func alarmByVoice(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient)
	before := j.there()
	j.asked("select")
	speak(t, s, j.robot, j.plan.ID, "say-1", "두 번째 거")
	j.asked("confirm")
	speak(t, s, j.robot, j.plan.ID, "say-2", "응")
	wantOutcome(t, j.plan, plan.Completed, "completed")
	j.left(before, j.b)
}

func alarmRejected(t *testing.T, s *stack.Stack) {
	for _, choices := range [][]string{{"none"}, {"", "no"}} {
		j := beginAlarms(t, s, patient)
		before := j.there()
		q := j.asked("select")
		if choices[0] == "" {
			j.answers(q, j.a)
			q = j.asked("confirm")
		}
		j.answers(q, choices[len(choices)-1])
		o := wantOutcome(t, j.plan, plan.Failed, "failed")
		j.left(before)
		j.says(o, "하지 않았어요.")
		if o.Reason.Code != "NOT_CONFIRMED" {
			t.Errorf("%v: ended for %+v", choices, o.Reason)
		}
	}
}

func alarmSilence(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, 3_000)
	before := j.there()
	j.answers(j.asked("select"), j.a)
	q := j.asked("confirm")
	o := wantOutcome(t, j.plan, plan.Failed, "failed")
	j.left(before)
	if o.Reason.Code != "CONFIRMATION_EXPIRED" {
		t.Errorf("ended for %+v", o.Reason)
	}
	if status, answer := s.Post(t, "/v1/plans/"+j.plan.ID+"/answer", answerTo(t, q.ID, "yes")); status != http.StatusConflict {
		t.Errorf("a late yes is answered %d %s", status, answer)
	}
	j.left(before)
}

// The alarm that was chosen goes between the choice and the yes: nothing is deleted, and the one that is left is not taken for it.
func alarmVanishes(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient)
	j.answers(j.asked("select"), j.b)
	q := j.asked("confirm")
	j.byHand(robot.Hand{Do: robot.HandRemove, Kind: robot.KindAlarm, ID: j.b})
	before := j.there()
	j.answers(q, "yes")
	q = j.asked("select")
	if len(q.Options) != 1 || q.Options[0].ID != j.a || !strings.Contains(q.Text, "그사이에 바뀌었어요") {
		t.Fatalf("asks %+v", q)
	}
	j.answers(q, "none")
	wantOutcome(t, j.plan, plan.Failed, "failed")
	j.left(before)
}

// It changes while the person is asked to confirm: the yes was for the alarm as it was.
func alarmChanges(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient)
	j.answers(j.asked("select"), j.b)
	q := j.asked("confirm")
	j.byHand(robot.Hand{Do: robot.HandChange, Kind: robot.KindAlarm, ID: j.b, Set: map[string]any{"label": "병원"}})
	before := j.there()
	j.answers(q, "yes")
	q = j.asked("select")
	if status, answer := s.Post(t, "/v1/plans/"+j.plan.ID+"/answer", answerTo(t, q.ID, "zz")); status != http.StatusUnprocessableEntity {
		t.Errorf("a choice that is none is answered %d %s", status, answer)
	}
	j.answers(q, j.b)
	q = j.asked("confirm")
	if !strings.Contains(q.Text, "병원") {
		t.Errorf("asks %q about the changed alarm", q.Text)
	}
	j.answers(q, "yes")
	wantOutcome(t, j.plan, plan.Completed, "completed")
	j.left(before, j.b)
}

// Requests, events and answers come twice: the effect is one, and an old answer counts for nothing.
func alarmTwice(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient, robot.Fault{Kind: robot.FaultCopyRequest, Method: "deleteAlarm"}, robot.Fault{Kind: robot.FaultDoubleAnswer},
		robot.Fault{Kind: robot.FaultDuplicateEvent, Event: "COMPLETED"})
	before := j.there()
	first := j.asked("select")
	j.answers(first, j.a)
	q := j.asked("confirm")
	if status, answer := s.Post(t, "/v1/plans/"+j.plan.ID+"/answer", answerTo(t, first.ID, j.b)); status != http.StatusConflict {
		t.Errorf("the first question answered again: %d %s", status, answer)
	}
	j.answers(q, "yes")
	wantOutcome(t, j.plan, plan.Completed, "completed")
	j.left(before, j.a)
}

// The robot says that it is done, and the alarm still rings: that is no success, and what is said is no lie.
func alarmBoast(t *testing.T, s *stack.Stack) {
	j := beginAlarms(t, s, patient, robot.Fault{Kind: robot.FaultBoast, Method: "deleteAlarm"})
	before := j.there()
	j.answers(j.asked("select"), j.a)
	j.answers(j.asked("confirm"), "yes")
	o := wantOutcome(t, j.plan, plan.NotAsExpected, "failed")
	j.left(before)
	j.says(o, "지운 줄 알았는데", "확인해 보니")
	if o.Steps[0].Phase != plan.StepContradicted || o.Steps[0].Receipt.Verdict != plan.Contradicted {
		t.Errorf("the step is %+v", o.Steps[0])
	}
}

func (j *alarms) byHand(h robot.Hand) {
	j.Helper()
	if _, err := j.robot.Control(j.T).ByHand(j.Context(), h); err != nil {
		j.Fatal(err)
	}
}

func answerTo(t *testing.T, questionID, choice string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"question_id": questionID, "choice": choice})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
