package tests

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// What people say to a home assistant, from the sentence to the thing: two lamps are called 스탠드, a door stands open, and a
// robot dies with an alarm just made. The ledger is the judge of what came about, and of what did not.
func TestHome(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	var all sync.WaitGroup
	defer all.Wait()
	for name, run := range map[string]func(*testing.T, *stack.Stack){
		"ALightIsFoundByItsRoom":           lightByRoom,
		"Law16ThePersonChoosesAndConfirms": personChooses,
		"Law16NoIsNo":                      personSaysNo,
		"NothingFits":                      nothingFits,
		"AnOpenDoorIsNotLocked":            openDoorIsNotLocked,
		"Law11AnAlarmIsMadeOnceOverACrash": madeOnceOverACrash,
	} {
		beside(t, &all, name, func(t *testing.T) { run(t, s) })
	}
}

// awaitQuestion waits until a plan asks something of a kind that it did not ask before.
func awaitQuestion(t *testing.T, p *stack.Plan, kind, before string) plan.Question {
	t.Helper()
	v := p.Await(t, "a question of the kind "+kind, func(v plan.View) bool {
		return v.Question != nil && v.Question.Kind == kind && v.Question.ID != before
	})
	return *v.Question
}

// targets lists what a ledger says was acted on.
func targets(effects []robot.Effect) []string {
	var list []string
	for _, e := range effects {
		list = append(list, e.Kind+" "+e.TargetID)
	}
	return list
}

func wantTargets(t *testing.T, r *stack.Robot, want ...string) {
	t.Helper()
	if got := targets(r.Ledger(t)); !slices.Equal(got, want) {
		t.Errorf("the ledger has %v, want %v", got, want)
	}
}

func byHand(t *testing.T, r *stack.Robot, h robot.Hand) string {
	t.Helper()
	id, err := r.Control(t).ByHand(t.Context(), h)
	if err != nil {
		t.Fatalf("by hand: %v", err)
	}
	return id
}

func wantHeard(t *testing.T, o plan.Outcome, words string) {
	t.Helper()
	if !strings.Contains(o.TTSResponse, words) {
		t.Errorf("said %q, want %q in it", o.TTSResponse, words)
	}
}

// Two lamps have one name, and only one is in the room: it is taken, and nobody is asked.
func lightByRoom(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	p := s.Say(t, r, "안방 불 켜줘")
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantTargets(t, r, "light_on light-1")
	wantHeard(t, o, "안방 스탠드를 켰어요.")
	receipt := o.Steps[0].Receipt
	if receipt == nil || receipt.TargetRef != "lights:light-1" || receipt.PreStateRevision != "r0" || receipt.Verdict != plan.Verified {
		t.Errorf("the receipt is %+v", receipt)
	}
}

func personChooses(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	p := s.Say(t, r, "7시 알람 삭제해줘")
	q := awaitQuestion(t, p, "select", "")
	if !slices.Equal(q.Choices, []string{"alarm-1", "alarm-2", "none"}) || !strings.Contains(q.Text, "07:00 출근 알람, 07:00 운동 알람") {
		t.Errorf("it asks %q with %v", q.Text, q.Choices)
	}
	p.Answer(t, q.ID, "alarm-2")
	q = awaitQuestion(t, p, "confirm", q.ID)
	if q.Text != "07:00 운동 알람을 지울까요?" {
		t.Errorf("it asks %q", q.Text)
	}
	wantTargets(t, r)
	p.Answer(t, q.ID, "yes")
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantTargets(t, r, "alarm_deleted alarm-2")
	wantHeard(t, o, "07:00 운동 알람을 지웠어요.")
}

func personSaysNo(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	p := s.Say(t, r, "베란다 문 열어줘")
	q := awaitQuestion(t, p, "confirm", "")
	p.Answer(t, q.ID, "no")
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantTargets(t, r)
	if o.Reason == nil || o.Reason.Code != "NOT_CONFIRMED" {
		t.Errorf("the reason is %+v", o.Reason)
	}
}

func nothingFits(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	o := wantOutcome(t, s.Say(t, r, "5시 알람 삭제해줘"), plan.Failed, "failed")
	wantTargets(t, r)
	if o.Reason == nil || o.Reason.Code != "TARGET_NOT_FOUND" {
		t.Errorf("the reason is %+v", o.Reason)
	}
	wantHeard(t, o, "말씀하신 것을 찾지 못했어요.")
}

func openDoorIsNotLocked(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	byHand(t, r, robot.Hand{Do: robot.HandChange, Kind: robot.KindDoor, ID: "door-1", Set: map[string]any{"open": true}})
	p := s.Say(t, r, "현관문 잠가줘")
	q := awaitQuestion(t, p, "decision", "")
	if !strings.Contains(q.Text, "문이 열려 있어서 잠글 수 없어요.") {
		t.Errorf("it asks %q", q.Text)
	}
	byHand(t, r, robot.Hand{Do: robot.HandChange, Kind: robot.KindDoor, ID: "door-1", Set: map[string]any{"open": false}})
	p.Answer(t, q.ID, "retry")
	p.Answer(t, awaitQuestion(t, p, "select", q.ID).ID, "door-1") // the door is not as it was when it was chosen
	wantOutcome(t, p, plan.Completed, "completed")
	wantTargets(t, r, "door_locked door-1")
}

// The robot dies with the alarm made and its word about it not yet said: there is one alarm, and the plan hears of it.
func madeOnceOverACrash(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultCrash, Event: "COMPLETED", Method: "createAlarm"})
	p := s.Say(t, r, "6시 반에 알람 맞춰줘")
	select {
	case <-r.Ended():
	case <-time.After(stack.Patience):
		t.Fatal("the robot never died")
	}
	r.Start(t)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantHeard(t, o, "알람을 06:30에 맞췄어요.")
	l, err := r.Control(t).Ledger(t.Context(), 1, time.Second)
	if err != nil || len(l.Effects) != 1 || l.Effects[0].Kind != "alarm_created" {
		t.Fatalf("%+v, %v", l, err)
	}
	seen, err := r.Control(t).Context(t.Context())
	if err != nil || len(seen.Alarms.Items) != 3 {
		t.Errorf("the alarms are %+v, %v", seen.Alarms, err)
	}
}
