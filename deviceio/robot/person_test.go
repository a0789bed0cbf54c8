package robot

import (
	"errors"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// answers lists the assistant.answer events told.
func (o *listOutbox) answers() []map[string]any {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []map[string]any
	for _, e := range o.events {
		if e.event == wire.NodeAnswer {
			found = append(found, e.payload)
		}
	}
	return found
}

func (b *bench) ask(id string, choices ...string) {
	b.t.Helper()
	expires := b.clock.Now().Add(time.Minute).UnixMilli()
	if _, err := b.Invoke(b.t.Context(), wire.CommandAsk, encode(b.t, wire.Ask{QuestionID: id, Text: "계속할까요?", Choices: choices, ExpiresAt: expires})); err != nil {
		b.t.Fatalf("ask: %v", err)
	}
}

func TestQuestionIsAskedOnceAndAnsweredOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ask("q1", "yes", "no")
	b.ask("q1", "yes", "no") // a request is delivered again until answered
	for id, choice := range map[string]string{"q1": "perhaps", "q9": "yes"} {
		if err := b.Answer(t.Context(), id, choice); !errors.Is(err, ErrQuestion) {
			t.Errorf("%s %s: %v", id, choice, err)
		}
	}
	if err := b.Answer(t.Context(), "q1", "yes"); err != nil {
		t.Fatal(err)
	}
	if err := b.Answer(t.Context(), "q1", "no"); !errors.Is(err, ErrQuestion) {
		t.Errorf("answered twice: %v", err)
	}
	if a := b.box.answers(); len(a) != 1 || a[0]["question_id"] != "q1" || a[0]["choice"] != "yes" {
		t.Fatalf("told %v", a)
	}
}

func TestExpiredQuestionTakesNoAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ask("q1", "yes", "no")
	b.clock.pass(2 * time.Minute)
	if err := b.Answer(t.Context(), "q1", "yes"); !errors.Is(err, ErrQuestion) || len(b.box.answers()) != 0 {
		t.Fatalf("%v, told %v", err, b.box.answers())
	}
}

// The answer is stored before it is told, so it is told after all.
func TestLaw19AnswerSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ask("q1", "yes", "no")
	b.box.fail = errors.New("disk full")
	if err := b.Answer(t.Context(), "q1", "yes"); err != nil {
		t.Fatal(err)
	}
	b.box.fail = nil
	b.cut()
	b.cut()
	if a := b.box.answers(); len(a) != 1 || a[0]["choice"] != "yes" {
		t.Fatalf("told %v", a)
	}
}

func TestAutoAnswer(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"first": "yes", "no": "no", "none": "", "maybe": ""} {
		b := newBench(t, func(o *Options) { o.Home = DefaultHome(); o.Home.AutoAnswer = setting })
		b.ask("q1", "yes", "no")
		switch a := b.box.answers(); {
		case want == "" && len(a) != 0, want != "" && (len(a) != 1 || a[0]["choice"] != want):
			t.Errorf("%s: answered %v, want %q", setting, a, want)
		}
	}
}

func TestWhatIsSaidIsKept(t *testing.T) {
	t.Parallel()
	var lines []string
	b := newBench(t, func(o *Options) { o.Report = func(l string) { lines = append(lines, l) } })
	if _, err := b.Invoke(t.Context(), wire.CommandSay, encode(t, wire.Say{Text: "안방 청정을 마쳤어요", Locale: "ko-KR"})); err != nil {
		t.Fatal(err)
	}
	said, err := b.store.said(t.Context())
	if err != nil || len(said) != 1 || said[0].Text != "안방 청정을 마쳤어요" || said[0].Locale != "ko-KR" {
		t.Fatalf("%+v, %v", said, err)
	}
	if len(lines) != 1 || lines[0] != "says: 안방 청정을 마쳤어요" {
		t.Fatalf("printed %q", lines)
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for command, params := range map[string]string{
		wire.CommandTaskStatus: `{}`, wire.CommandCancelTask: `{"taskId": 5}`, wire.CommandAsk: `{"text": "?"}`, wire.CommandSay: `[]`,
	} {
		_, err := b.Invoke(t.Context(), command, []byte(params))
		if coded, ok := errors.AsType[*wire.InvokeError](err); !ok || coded.Code != wire.InvokeInvalidRequest {
			t.Errorf("%s %s: %v", command, params, err)
		}
	}
	_, err := b.Invoke(t.Context(), "camera.snap", []byte(`{}`))
	if coded, ok := errors.AsType[*wire.InvokeError](err); !ok || coded.Code != wire.InvokeUnknownCommand {
		t.Errorf("camera.snap: %v", err)
	}
}

// Case c09: a sensor that did not change and one that died look alike; the last report tells them apart.
func TestCaseC09UnchangedOrDead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.fault(Fault{Kind: FaultSilence, Source: "air_quality"})
	level := b.Context().AirQuality.PM25
	b.pass(time.Minute)
	c := b.Context()
	air, battery, security := c.Freshness["air_quality"], c.Freshness["battery"], c.Freshness["security"]
	if air.Usable || !air.Stale || air.Policy != "periodic" || c.AirQuality.PM25 != level {
		t.Errorf("the dead sensor: %+v, tells %v", air, c.AirQuality.PM25)
	}
	if !battery.Usable || battery.Stale || c.SnapshotTS-battery.ObservedAt > 1000 {
		t.Errorf("the living sensor: %+v", battery)
	}
	if !security.Usable || security.Stale || security.Policy != "on_change" || c.SnapshotTS-security.ObservedAt < 59_000 {
		t.Errorf("unchanged for a minute: %+v", security)
	}
	b.release(f)
	b.pass(2 * time.Second)
	if air := b.Context().Freshness["air_quality"]; !air.Usable || air.Stale {
		t.Errorf("back: %+v", air)
	}
}

// The air is measured as a purification ends: a look afterwards sees what it claims (law 20).
func TestAirIsMeasuredWhenPurified(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(task("p/x/1", "setStationaryPurify", map[string]any{"area_id": "1"}))
	e := b.until("p/x/1", "COMPLETED")
	c := b.Context()
	ended := stamp(e)
	if c.Freshness["air_quality"].ObservedAt < ended || c.AirQuality.Rooms["1"].PurifiedAt != ended {
		t.Fatalf("observed at %d, purified at %d, completed at %d", c.Freshness["air_quality"].ObservedAt, c.AirQuality.Rooms["1"].PurifiedAt, ended)
	}
	if after, ok := result(e)["air_quality_after"].(float64); !ok || c.AirQuality.Rooms["1"].PM25 > after+0.1 {
		t.Fatalf("claims %v, measured %v", after, c.AirQuality.Rooms["1"].PM25)
	}
}
