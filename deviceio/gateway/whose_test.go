package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/lease"
)

// views tells how every plan stands, or fails.
type views struct {
	mu   sync.Mutex
	view plan.View
	err  error
}

func (v *views) set(view plan.View, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view, v.err = view, err
}

func (v *views) View(context.Context, string) (plan.View, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view, v.err
}

func (v *views) Lease(context.Context, string) (lease.View, error) {
	return lease.View{}, errDown
}

// kims is a gateway with a robot in the home of kim, where p-1 asks "p-1.1" of one kind.
func kims(t *testing.T, kind string, voice registry.Rights) (*home, *node, *views) {
	t.Helper()
	seen := &views{view: plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "p-1.1", Kind: kind, Choices: []string{"yes", "no"}}}}
	h := newHome(t, func(o *gateway.Options) { o.Views = seen })
	n := h.robot(nil)
	h.moved(n, "kim", voice)
	h.signals.ownAt("p-1", gateway.Owner{DeviceID: n.id, HomeID: "kim"})
	for _, u := range []registry.User{
		{ID: "mina", HomeID: "kim", Rights: registry.Rights{Command: true}, Speakers: []string{"s-mina"}},
		{ID: "joon", HomeID: "kim", Rights: registry.Rights{Confirm: true}, Speakers: []string{"s-joon"}},
		{ID: "sora", HomeID: "kim", Rights: registry.Rights{Hear: true}, Speakers: []string{"s-sora"}},
	} {
		_, err := h.registry.AddUser(t.Context(), u)
		must(t, err)
	}
	return h, n, seen
}

// moved puts the device in a home, which is made.
func (h *home) moved(n *node, homeID string, voice registry.Rights) {
	h.t.Helper()
	must(h.t, h.registry.SetHome(h.t.Context(), registry.Home{ID: homeID, Voice: voice}))
	must(h.t, h.registry.MoveDevice(h.t.Context(), n.id, homeID))
}

func (n *node) answers1(seq int, speaker, choice string) wire.EventAck {
	n.t.Helper()
	return n.ack(wire.NodeAnswer, fmt.Sprintf(`{"event_id":"b1-%d","boot_id":"b1","seq":%d,"question_id":"p-1.1","choice":%q,"speaker_id":%q}`, seq, seq, choice, speaker))
}

func TestWhoMayAnswerThroughADevice(t *testing.T) {
	t.Parallel()
	all, none := registry.All(), registry.Rights{}
	for _, tt := range []struct {
		kind, speaker string
		voice         registry.Rights
		unseen        bool // how the plan stands cannot be told
		by            string
		confirms      bool
		refused       string // "" for an answer that is handed on
	}{
		{kind: "confirm", speaker: "s-joon", by: "joon", confirms: true},
		{kind: "confirm", speaker: "s-mina", refused: "may_not_confirm: mina may not confirm in home \"kim\", and the question stays open; of its users may: joon"},
		{kind: "confirm", speaker: "s-sora", refused: "may_not_command"},
		{kind: "confirm", voice: all, by: "voice:", confirms: true},
		{kind: "confirm", voice: registry.Rights{Command: true}, refused: "may_not_confirm: voice:"},
		{kind: "confirm", voice: none, refused: "may_not_command: voice:"},
		{kind: "confirm", speaker: "a stranger", voice: registry.Rights{Command: true}, refused: "may_not_confirm: voice:"},
		{kind: "select", speaker: "s-mina", by: "mina"},
		{kind: "select", speaker: "s-joon", refused: "may_not_command: joon"},
		{kind: "decision", voice: registry.Rights{Command: true}, by: "voice:"},
		// What cannot be seen is the plan's to judge, which knows of each answer whether it is consent; the rest is refused.
		{kind: "confirm", speaker: "s-mina", unseen: true, by: "mina"},
		{kind: "confirm", voice: all, unseen: true, by: "voice:", confirms: true},
		{kind: "confirm", speaker: "s-joon", unseen: true, refused: "not_seen: joon"},
		{kind: "confirm", speaker: "s-sora", unseen: true, refused: "may_not_command: sora"},
	} {
		name := fmt.Sprintf("%s of %q to %s, voices %+v, unseen %v", "answer", tt.speaker, tt.kind, tt.voice, tt.unseen)
		h, n, seen := kims(t, tt.kind, tt.voice)
		if tt.unseen {
			seen.set(plan.View{}, errDown)
		}
		ack := n.answers1(1, tt.speaker, "yes")
		if tt.refused != "" {
			if ack.Ack != wire.AckRefused || !strings.Contains(ack.Reason, tt.refused) || len(h.strays(n)) != 1 {
				t.Errorf("%s: %+v, %d on record", name, ack, len(h.strays(n)))
			}
			h.signals.none(t)
			continue
		}
		if ack.Ack != wire.AckApplied {
			t.Errorf("%s: %+v", name, ack)
			continue
		}
		got := await(t, h.signals.arrived, "the answer").sent.Answer
		if got == nil || !strings.HasPrefix(got.By, tt.by) || got.MayConfirm != tt.confirms || got.Choice != "yes" {
			t.Errorf("%s: handed on %+v", name, got)
		}
	}
}

// What is none of the choices is refused where it was said, and never enters the plan's history.
func TestWhatIsNoChoiceIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	h, n, _ := kims(t, "confirm", registry.All())
	if ack := n.answers1(1, "", "maybe"); ack.Ack != wire.AckRefused || !strings.HasPrefix(ack.Reason, "not_a_choice: ") || len(h.strays(n)) != 1 {
		t.Errorf("%+v, %d on record", ack, len(h.strays(n)))
	}
	h.signals.none(t)
	if ack := n.answers1(2, "", "yes"); ack.Ack != wire.AckApplied {
		t.Errorf("the question is not open any more: %+v", ack)
	}
}

// The second of two people who answer learns what was decided; the first one, whose device tells it again, is acknowledged as before.
func TestTheSecondAnswerIsToldWhatWasDecided(t *testing.T) {
	t.Parallel()
	h, n, seen := kims(t, "confirm", registry.Rights{})
	seen.set(plan.View{State: plan.Running, Answers: []plan.Answered{{QuestionID: "p-1.1", Kind: "confirm", Choice: "no", By: "joon"}}}, nil)
	if ack := n.answers1(1, "s-joon", "no"); ack.Ack != wire.AckApplied {
		t.Errorf("the same answer again: %+v", ack)
	}
	await(t, h.signals.arrived, "the signal, which its plan knows by its request id")
	_, err := h.registry.AddUser(t.Context(), registry.User{ID: "yuna", HomeID: "kim", Rights: registry.All(), Speakers: []string{"s-yuna"}})
	must(t, err)
	if ack := n.answers1(2, "s-yuna", "yes"); ack.Ack != wire.AckLate || ack.Reason != "already_answered: by joon: no" {
		t.Errorf("the second answer: %+v", ack)
	}
	h.signals.none(t)
}

// A device that is in another home than the plan does nothing for it, says nothing, asks nothing, and answers nothing.
func TestADeviceThatWasMovedDoesNothingForPlansOfTheOldHome(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) {
		o.Catalog = testCatalog()
		o.Catalog.Reasons = append(o.Catalog.Reasons, catalog.Reason{Code: "DEVICE_MOVED"})
	})
	n := h.robot(nil)
	h.signals.own("p-1", n.id) // of the default home
	h.moved(n, "kim", registry.All())
	got, err := h.gateway.Submit(t.Context(), h.submit(n))
	if err != nil || got.Delivery != plan.DeliveryRefused || !got.Unasked || got.Report == nil || got.Report.Code != "DEVICE_MOVED" || got.Report.RequiresDecision {
		t.Errorf("Submit = %+v %+v, %v", got, got.Report, err)
	}
	said := say(n.id)
	if err := h.gateway.Say(t.Context(), said); !errors.Is(err, gateway.ErrNotHeard) {
		t.Errorf("Say = %v", err)
	}
	if err := h.gateway.Ask(t.Context(), plan.Ask{DeviceID: n.id, Question: plan.Question{ID: "p-1.1", Text: "?", Choices: []string{"yes"}}}); !errors.Is(err, gateway.ErrNotHeard) {
		t.Errorf("Ask = %v", err)
	}
	if ack := n.answers1(1, "", "yes"); ack.Ack != wire.AckUnmatched {
		t.Errorf("an answer to the old home's question: %+v", ack)
	}
	// What it did for the old home it may still tell: the truth about an operation is its plan's.
	if ack := n.ack(wire.NodeTaskEvent, event(2, "COMPLETED", "")); ack.Ack != wire.AckApplied {
		t.Errorf("an event: %+v", ack)
	}
	// For plans of its own home it does all that.
	c := h.submit(n)
	c.HomeID = "kim"
	done := h.start(t.Context(), c)
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"store-1"}`)
	if got := await(t, done, "the submit"); got.err != nil || got.Delivery != plan.DeliveryAccepted {
		t.Errorf("Submit for its own home = %+v", got)
	}
}

// Nothing is said where nobody may hear; what moves is not a matter of hearing.
func TestNothingIsSaidWhereNobodyMayHear(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.moved(n, "kim", registry.Rights{Command: true})
	said := say(n.id)
	said.HomeID = "kim"
	if err := h.gateway.Say(t.Context(), said); !errors.Is(err, gateway.ErrNotHeard) || !strings.Contains(err.Error(), "kim") {
		t.Errorf("Say = %v", err)
	}
	must(t, h.registry.SetHome(t.Context(), registry.Home{ID: "kim", Voice: registry.Rights{Hear: true}}))
	failed := make(chan error, 1)
	go func() { failed <- h.gateway.Say(context.Background(), said) }()
	n.answer(n.invoked(), `{}`)
	must(t, await(t, failed, "Say"))
}

// Where it cannot be known whose a device is, nothing is sent, and an answer is not lost: the device sends it again.
func TestNothingIsSentWhereItCannotBeKnownWhoseADeviceIs(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.exec(`UPDATE devices SET home_id = 'nowhere'`)
	if _, err := h.gateway.Submit(t.Context(), h.submit(n)); !errors.Is(err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v", err)
	}
	if err := h.gateway.Say(t.Context(), say(n.id)); err == nil {
		t.Error("something was said")
	}
	f := n.emit(wire.NodeAnswer, `{"event_id":"b1-1","boot_id":"b1","seq":1,"question_id":"p-1.1","choice":"yes"}`)
	if *f.OK || !f.Error.Retryable {
		t.Errorf("the answer was taken: %+v", f)
	}
	h.signals.none(t)
}

// The answer to a batch over HTTP says nothing of plans to a device whose home lets nobody hear, or that is in another home by now.
func TestABatchIsAnsweredWithWhatMayBeHeardThere(t *testing.T) {
	t.Parallel()
	blocked := `{"event":` + event(1, "BLOCKED", `"reason_code":"PATH_BLOCKED","requires_cloud_decision":true`) + `}`
	for name, tt := range map[string]struct {
		plans string
		voice registry.Rights
		heard bool
	}{
		"may hear":         {plans: "kim", voice: registry.Rights{Hear: true}, heard: true},
		"may not hear":     {plans: "kim", voice: registry.Rights{Command: true, Confirm: true}},
		"of the home left": {plans: plan.DefaultHome, voice: registry.All()},
	} {
		seen := &views{view: plan.View{Question: &plan.Question{ID: "p-1.1", Text: "?", Choices: []string{"yes"}}}}
		h := newHome(t, func(o *gateway.Options) { o.Views = seen })
		c := h.caller()
		must(t, h.registry.SetHome(t.Context(), registry.Home{ID: "kim", Voice: tt.voice}))
		must(t, h.registry.MoveDevice(t.Context(), c.id, "kim"))
		h.signals.ownAt("p-1", gateway.Owner{DeviceID: c.id, HomeID: tt.plans})
		var got decided
		if status, text := c.call(http.MethodPost, "/v1/task-events", blocked, &got); status != http.StatusOK || got.Acks[0].Ack != wire.AckApplied || len(got.Decisions) > 0 != tt.heard {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}
