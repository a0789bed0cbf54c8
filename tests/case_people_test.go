package tests

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/text/unicode/norm"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// The cases about what is true, and which thing is meant: c09, c10, c12 and c14.

// person starts the trial's plan; what is said is the robot's to be asked about.
func (c *caseTrial) person(document string) {
	c.t.Helper()
	c.goesOn(c.stack.Submit(c.t, c.robot, document))
}

// question waits until the plan asks something of a kind.
func (c *caseTrial) question(kind string) *plan.Question {
	c.t.Helper()
	return c.await("a person is asked: "+kind, func(v plan.View) bool { return v.Question != nil && v.Question.Kind == kind }).Question
}

// objects is the robot's home as it is now.
func (c *caseTrial) objects() *robot.Objects {
	c.t.Helper()
	state, err := c.robot.Control(c.t).State(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return state.World.Objects
}

// c09: a sensor that did not change and one that died look alike. What nobody saw lately is not confirmed; what is as it was is.
func unchangedOrDead(c *caseTrial) {
	source := pick(c, "the sensor", "air_quality", "battery")
	dead := pick(c, "it is dead", true, false)
	after := c.between("it dies before the plan by", 0, time.Second)
	document := map[string]string{
		"air_quality": `{"steps":[{"id":"act","action":{"capability_id":"stationary_purify","operation_id":"start","arguments":{"area_id":"6"}}}]}`,
		"battery":     `{"steps":[{"id":"act","action":{"capability_id":"device_status","operation_id":"read"}}]}`,
	}[source]

	c.begin()
	if dead {
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultSilence, Source: source})
		pause(after)
	}
	c.person(document)
	o, _ := c.plan.Wait(c.t)
	if o.State != plan.Completed {
		c.t.Fatalf("the plan ended %s: %+v", o.State, o.Reason)
	}
	verdict := o.Steps[0].Receipt.Verdict
	if source == "air_quality" && (verdict == plan.Verified) == dead {
		c.t.Errorf("the air was cleaned, the sensor is dead: %v, and the verdict is %s", dead, verdict)
	}
	if dead && verdict == plan.Verified {
		c.t.Errorf("Law17: verified by a sensor that is dead")
	}
}

// c10: the same name in two places. Nothing moves before a person has said which; a room that is said leaves one.
func sameNameTwice(c *caseTrial) {
	scoped := pick(c, "the room is said", true, false)
	on := pick(c, "to be switched", "on", "off")
	choice := pick(c, "the choice", 0, 1)
	way := pick(c, "answered by", "api", "words", "the robot")
	hesitates := c.between("the person hesitates", 0, 1500*time.Millisecond)

	c.begin()
	lamps := c.twoLamps(on == "off")
	arguments := `"name":"스탠드"`
	if scoped {
		arguments = fmt.Sprintf(`"name":"스탠드","room_name":%q`, lamps[choice].RoomName)
	}
	c.person(fmt.Sprintf(`{"answer_within_ms":60000,"steps":[{"id":"act","action":{"capability_id":"light_%s","operation_id":"set","arguments":{%s}}}]}`, on, arguments))
	if !scoped {
		q := c.question("select")
		wantEffects(c.t, c.robot)
		pause(hesitates)
		i := slices.IndexFunc(q.Options, func(o plan.Target) bool { return o.ID == lamps[choice].ID })
		if i < 0 || len(q.Options) != 2 {
			c.t.Fatalf("the choices are %+v, want the two lamps %+v", q.Options, lamps)
		}
		c.choose(q, i, way)
	}
	if o, _ := c.plan.Wait(c.t); o.State != plan.Completed {
		c.t.Fatalf("the plan ended %s: %+v", o.State, o.Reason)
	}
	for i, lamp := range lamps {
		for _, now := range c.objects().Lights {
			if now.ID == lamp.ID && (now.On == (on == "on")) != (i == choice) {
				c.t.Errorf("the lamp in %s is on: %v, and %s was chosen", now.RoomName, now.On, lamps[choice].RoomName)
			}
		}
	}
	if n := len(c.robot.Ledger(c.t)); n != 1 {
		c.t.Errorf("the ledger has %d effects, want 1", n)
	}
}

// twoLamps are the two of one name, both switched on or off by hand first.
func (c *caseTrial) twoLamps(on bool) (two []robot.Light) {
	c.t.Helper()
	for _, l := range c.objects().Lights {
		if l.Name != "스탠드" {
			continue
		}
		two = append(two, l)
		if l.On == on {
			continue
		}
		if _, err := c.robot.Control(c.t).ByHand(c.t.Context(), robot.Hand{Do: robot.HandChange, Kind: robot.KindLight, ID: l.ID, Set: map[string]any{"on": on}}); err != nil {
			c.t.Fatal(err)
		}
	}
	if len(two) != 2 {
		c.t.Fatalf("the home has the lamps %+v, want two of one name", two)
	}
	return two
}

// choose takes one of the objects that a question offers.
func (c *caseTrial) choose(q *plan.Question, i int, way string) {
	c.t.Helper()
	switch way {
	case "words":
		speak(c.t, c.stack, c.robot, c.plan.ID, c.plan.ID+"-said", fmt.Sprintf("%d번", i+1))
	case "the robot":
		c.answersItself(q.ID, q.Choices[i])
	default:
		c.plan.Answer(c.t, q.ID, q.Choices[i])
	}
}

// answersItself lets the person answer at the robot, once the question has come to it.
func (c *caseTrial) answersItself(questionID, choice string) {
	c.t.Helper()
	stack.Eventually(c.t, "the robot takes the answer", func(ctx context.Context) (bool, error) {
		err := c.robot.Control(c.t).Answer(ctx, questionID, choice)
		return err == nil, err
	})
}

// c12: approved A, ran B. What was confirmed is what is done; what comes in its place is asked about anew, and an old yes counts
// for nothing, however it comes.
func approvedAnother(c *caseTrial) {
	first, second := pick(c, "first", "출근", "운동"), pick(c, "then", "출근", "운동")
	when := pick(c, "the change comes", "before the answer", "after it, in the home")
	way := pick(c, "the old yes comes by", "api", "the robot")
	after := c.between("after", 0, time.Second)

	c.begin()
	alarms := map[string]robot.Alarm{}
	for _, a := range c.objects().Alarms {
		alarms[a.Label] = a
	}
	remove := func(id, label string) string {
		return fmt.Sprintf(`[{"id":%q,"action":{"capability_id":"alarm_delete","operation_id":"delete","arguments":{"label":%q}}}]`, id, label)
	}
	c.person(`{"answer_within_ms":60000,"steps":` + remove("act", first) + `}`)
	old := c.question("confirm")
	pause(after)
	want := second
	if when == "before the answer" {
		status, answer := c.stack.Post(c.t, "/v1/plans/"+c.plan.ID+"/amend", `{"replace":true,"steps":`+remove("instead", second)+`}`)
		if status != http.StatusAccepted {
			c.t.Fatalf("amend: %d %s", status, answer)
		}
		c.await("the new step is asked about", func(v plan.View) bool { return v.Question != nil && v.Question.StepID == "instead" })
		c.oldYes(old.ID, way)
	} else {
		want = first
		set := map[string]any{"time": "06:00"}
		if _, err := c.robot.Control(c.t).ByHand(c.t.Context(), robot.Hand{Do: robot.HandChange, Kind: robot.KindAlarm, ID: alarms[first].ID, Set: set}); err != nil {
			c.t.Fatal(err)
		}
		c.plan.Answer(c.t, old.ID, "yes")
		q := c.question("select")
		c.plan.Answer(c.t, q.ID, alarms[first].ID)
	}
	q := c.await("it is asked about anew", func(v plan.View) bool {
		return v.Question != nil && v.Question.Kind == "confirm" && v.Question.ID != old.ID
	}).Question
	wantEffects(c.t, c.robot)
	c.plan.Answer(c.t, q.ID, "yes")
	if o, _ := c.plan.Wait(c.t); o.State != plan.Completed {
		c.t.Fatalf("the plan ended %s: %+v", o.State, o.Reason)
	}
	ledger := c.robot.Ledger(c.t)
	if len(ledger) != 1 || ledger[0].TargetID != alarms[want].ID {
		c.t.Errorf("the ledger has %+v, want the alarm %s (%s) deleted alone", ledger, alarms[want].ID, want)
	}
}

// oldYes answers a question that is no longer open.
func (c *caseTrial) oldYes(questionID, way string) {
	c.t.Helper()
	if way == "the robot" {
		c.answersItself(questionID, "yes")
		return
	}
	if status, answer := c.stack.Post(c.t, "/v1/plans/"+c.plan.ID+"/answer", answerTo(c.t, questionID, "yes")); status != http.StatusConflict {
		c.t.Errorf("an old yes is answered %d %s", status, answer)
	}
}

// c14: Hangul in loose jamo is the same room, the same alarm and the same sentence.
func spellingOfHangul(c *caseTrial) {
	form := pick(c, "spelled", "NFD", "NFC", "NFKD")
	spelled := map[string]func(string) string{"NFD": norm.NFD.String, "NFC": norm.NFC.String, "NFKD": norm.NFKD.String}[form]
	what := pick(c, "in", "a sentence", "a plan", "an object")

	c.begin()
	switch what {
	case "a sentence":
		c.goesOn(c.stack.Say(c.t, c.robot, spelled(sentence)))
	case "a plan":
		c.person(spelled(threeStepPlan))
	default:
		c.person(fmt.Sprintf(`{"steps":[{"id":"act","action":{"capability_id":"light_on","operation_id":"set","arguments":{"name":%q,"room_name":%q}}}]}`,
			spelled("스탠드"), spelled("안방")))
	}
	o, _ := c.plan.Wait(c.t)
	if o.State != plan.Completed {
		c.t.Fatalf("the plan ended %s: %+v", o.State, o.Reason)
	}
	if what == "an object" {
		ledger := c.robot.Ledger(c.t)
		lit := slices.IndexFunc(c.objects().Lights, func(l robot.Light) bool { return l.Name == "스탠드" && l.RoomName == "안방" && l.On })
		if len(ledger) != 1 || lit < 0 {
			c.t.Errorf("the ledger has %+v, the lamps are %+v", ledger, c.objects().Lights)
		}
		return
	}
	wantEffects(c.t, c.robot, "arrived", "purified", "docked")
}
