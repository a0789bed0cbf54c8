package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// Whose a device is, is checked here a second time, after the API (design §6, Who is speaking): what a plan of another home wants
// is neither done nor said, and a voice answers as far as its home lets it. A plan keeps the home that its device was in when it
// was asked for, so a device that was moved since does nothing for it.

// reasonMoved refuses what a plan of another home wants of the device.
const reasonMoved = "DEVICE_MOVED"

// ErrNotHeard means that nothing is said or asked at the device: it is in another home than the plan, or its home lets nobody hear.
var ErrNotHeard = errors.New("nothing is said at this device")

// movedReport is why a device does nothing for a plan of another home; nil if it is in the plan's. Where that cannot be known nothing
// is sent.
func (g *Gateway) movedReport(ctx context.Context, deviceID, homeID string) (*plan.Report, error) {
	home, err := g.opts.Registry.HomeOf(ctx, deviceID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("device %s: whose it is cannot be known now: %w: %w", deviceID, plan.ErrNotConnected, err)
	case home.ID != plan.HomeOf(homeID):
		return g.translate.reason(reasonMoved, nil, "the device was moved to another home since the plan was asked for"), nil
	}
	return nil, nil
}

// audible refuses to have something said or asked at a device that a plan's people are not at, or may not hear at.
func (g *Gateway) audible(ctx context.Context, deviceID, homeID string) error {
	home, err := g.opts.Registry.HomeOf(ctx, deviceID)
	switch {
	case err != nil:
		return fmt.Errorf("device %s: whose it is cannot be known now: %w: %w", deviceID, plan.ErrNotConnected, err)
	case home.ID != plan.HomeOf(homeID):
		return fmt.Errorf("device %s: %w: it was moved to another home since the plan was asked for", deviceID, ErrNotHeard)
	case !home.Voice.Hear:
		return fmt.Errorf("device %s: %w: whoever is at the devices of home %q may not hear", deviceID, ErrNotHeard, home.ID)
	}
	return nil
}

// verdict is why an answer from a device is not handed to its plan; the zero verdict is that it is.
type verdict struct{ ack, reason string }

// judge tells whether a voice at this device may answer the question of a plan, and whether somebody was faster. The plan itself
// has the last word; what cannot be seen of it now is left to it, and no answer is no.
func (s *session) judge(ctx context.Context, planID string, voice registry.Voice, a wire.AnswerEvent) (verdict, error) {
	owner, err := s.g.ownerOf(ctx, planID)
	if err != nil {
		return verdict{}, fmt.Errorf("find whose plan %s is: %w", planID, err)
	}
	if owner.DeviceID == s.deviceID && plan.HomeOf(owner.HomeID) != voice.HomeID {
		return verdict{wire.AckUnmatched, "plan " + planID + " is not one of the home that the device is in"}, nil
	}
	if !voice.Command && !voice.Confirm {
		return s.mayNot(ctx, voice, false), nil
	}
	if owner.DeviceID != "" && owner.DeviceID != s.deviceID {
		return verdict{}, nil // nobody's business here: refused as any event of a foreign plan
	}
	view, seen := s.look(ctx, planID)
	if i := slices.IndexFunc(view.Answers, func(b plan.Answered) bool { return b.QuestionID == a.QuestionID }); i >= 0 {
		if b := view.Answers[i]; b.By != voice.By || b.Choice != a.Choice { // else it is the same answer, told again
			return verdict{wire.AckLate, fmt.Sprintf("already_answered: by %s: %s", b.By, b.Choice)}, nil
		}
	}
	switch open := view.Question; {
	case open != nil && open.ID == a.QuestionID && open.Consents() && !voice.Confirm:
		return s.mayNot(ctx, voice, true), nil
	case open != nil && open.ID == a.QuestionID && !open.Consents() && !voice.Command:
		return s.mayNot(ctx, voice, false), nil
	case open != nil && open.ID == a.QuestionID && !slices.Contains(open.Choices, a.Choice):
		return verdict{wire.AckRefused, fmt.Sprintf("not_a_choice: the choices are %q, and the question stays open", open.Choices)}, nil
	case !seen && !voice.Command: // it could be a question of another kind
		return verdict{wire.AckRefused, "not_seen: " + voice.By + " may only confirm, and what is asked cannot be seen now: answer again"}, nil
	}
	return verdict{}, nil
}

// look asks a plan how it stands, for a moment.
func (s *session) look(ctx context.Context, planID string) (view plan.View, seen bool) {
	if s.g.opts.Views == nil {
		return plan.View{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, decisionWait)
	defer cancel()
	view, err := s.g.opts.Views.View(ctx, planID)
	if err != nil {
		s.log.Debug("a plan's question could not be seen", "plan", planID, "error", err)
	}
	return view, err == nil
}

// mayNot says who may answer, where a voice may not.
func (s *session) mayNot(ctx context.Context, voice registry.Voice, consent bool) verdict {
	code, what := "may_not_command", "command"
	if consent {
		code, what = "may_not_confirm", "confirm"
	}
	able := "nobody"
	users, err := s.g.opts.Registry.Users(ctx, voice.HomeID)
	if err != nil {
		s.log.Warn("who may answer could not be read", "error", err)
	}
	for _, u := range users {
		if consent && u.Confirm || !consent && u.Command {
			if able == "nobody" {
				able = u.ID
			} else {
				able += ", " + u.ID
			}
		}
	}
	return verdict{wire.AckRefused, fmt.Sprintf("%s: %s may not %s in home %q, and the question stays open; of its users may: %s", code, voice.By, what, voice.HomeID, able)}
}
