package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"errand/catalog"
	"errand/deviceio/registry"
	"errand/plan"
	"errand/starter/plans"
)

// voice is the token of a pause that was spoken: speaking takes it back, and no other pause.
const voice = "voice"

// spoken is one utterance that steers a plan, on its way.
type spoken struct {
	intent
	key, locale string
	by          person
	// wish is what a follow-up asks for; rest says that more was said than was taken.
	wish string
	rest bool
}

// steer carries out what words that steer mean, once, and answers how things stand then. An utterance that came too long ago
// does nothing; one that was heard in time is only told about, once it is old. started is nil where a plan of its own is due.
func (a *API) steer(ctx context.Context, s spoken, spokenAt int64, row registry.Remembered) (started *startedOut, err error) {
	if spokenAt > 0 && row.At.Sub(time.UnixMilli(spokenAt)) > utteranceAge {
		return nil, tooOld(row.At.Sub(time.UnixMilli(spokenAt)))
	}
	if s.Verb == follow && row.Existing {
		if _, none := a.Plans.Find(ctx, s.key); none == nil { // it was refused then, and became a plan of its own
			return nil, nil
		}
	}
	if err := a.mayReply(ctx, s); err != nil {
		return nil, err
	}
	if a.Now().Sub(row.At) <= utteranceAge {
		err = a.act(plans.Once(ctx, s.key), s)
	}
	refused := errors.Is(err, plans.ErrRefused) || errors.Is(err, plans.ErrOver) || errors.Is(err, plans.ErrNoPlan)
	if err != nil && !refused {
		return nil, err
	}
	if s.Verb == follow && refused && !row.Existing { // a repeat cannot tell whether the plan had taken it before it ended
		return nil, nil
	}
	a.metrics.steered(string(s.Verb))
	return a.stands(ctx, s, refused)
}

// mayReply refuses a spoken answer to the open question by who may not give it. Whoever speaks may command.
func (a *API) mayReply(ctx context.Context, s spoken) error {
	if s.Verb != answerIt {
		return nil
	}
	view, err := a.Plans.View(ctx, s.Plans[0])
	if err != nil || view.Question == nil || view.Question.ID != s.QuestionID {
		return err
	}
	return a.mayChoose(ctx, s.by, *view.Question)
}

// act asks the plans. That one of them is over already, or refuses, is no failure: how things stand tells.
func (a *API) act(ctx context.Context, s spoken) error {
	switch s.Verb {
	case stop, cancelPlan:
		return a.cancelAll(ctx, s)
	case pausePlan:
		return a.Plans.Pause(ctx, s.Plans[0], plan.Pause{Token: voice, By: s.by.name})
	case resumePlan:
		return a.Plans.Resume(ctx, s.Plans[0], plan.Resume{Token: voice, By: s.by.name})
	case answerIt:
		return a.Plans.Answer(ctx, s.Plans[0], s.by.answer(s.QuestionID, s.Choice))
	case follow:
		return a.Plans.FollowUp(ctx, s.Plans[0], plan.FollowUp{Text: s.wish, By: s.by.name})
	default: // only words are due
		return nil
	}
}

// cancelAll asks each plan to stop, the later ones too when one does not answer: the more that stops the better.
func (a *API) cancelAll(ctx context.Context, s spoken) error {
	var failed error
	for _, id := range s.Plans {
		err := a.Plans.Cancel(ctx, id, plan.CancelRequest{By: s.by.name, Why: "a person said so", Source: "api"})
		if err != nil && !errors.Is(err, plans.ErrOver) && !errors.Is(err, plans.ErrNoPlan) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// stands answers how the plans stand, in a sentence that says what is so (law 20).
func (a *API) stands(ctx context.Context, s spoken, refused bool) (*startedOut, error) {
	out := &startedOut{Status: http.StatusOK}
	if len(s.Plans) == 0 {
		out.Body.TTSResponse = a.sentence("steer_"+string(s.Verb), s.locale, nil)
		return out, nil
	}
	first := s.Plans[0]
	view, err := a.Plans.View(ctx, first)
	if err != nil {
		return nil, err
	}
	moving, over := a.moving(view, s.locale), view.State.Closed()
	for _, id := range s.Plans[1:] {
		other, err := a.Plans.View(ctx, id)
		if err != nil {
			return nil, err
		}
		moving, over = append(moving, a.moving(other, s.locale)...), over && other.State.Closed()
	}
	text := a.tell(s, view, strings.Join(moving, ", "), over, refused)
	if s.rest {
		text = a.sentence("steer_rest", s.locale, map[string]string{"said": text})
	}
	out.Body = Started{WorkflowID: first, PlanID: first, State: view.State, TTSResponse: text, UIURL: a.link(first)}
	return out, nil
}

// tell words how a plan stands after what was said to it. moving is what the device has of it, over that nothing of it is left.
func (a *API) tell(s spoken, v plan.View, moving string, over, refused bool) string {
	say := func(key string) string { return a.sentence(key, s.locale, map[string]string{"what": moving}) }
	ends := s.Verb == stop || s.Verb == cancelPlan
	switch {
	case over && v.Outcome != nil && v.Outcome.TTSResponse != "" && (ends || s.Verb == answerIt) && len(s.Plans) == 1 && !refused:
		return v.Outcome.TTSResponse
	case over && ends:
		return say("steer_stopped")
	case over:
		return say("steer_over")
	case ends || v.State == plan.Cancelling:
		if moving == "" {
			return say("steer_stopped")
		}
		return say("steer_stopping")
	}
	switch s.Verb {
	case pausePlan:
		switch {
		case v.State != plan.Paused: // a repeat, and it was resumed since
			return say("steer_resumed")
		case moving != "":
			return say("steer_pausing")
		}
		return say("steer_paused")
	case resumePlan:
		switch {
		case v.State == plan.Paused:
			return say("steer_held")
		case refused:
			return say("steer_not_paused")
		}
		return say("steer_resumed")
	case follow:
		return say("follow_up_taken")
	case noQuestion:
		return a.notAsked(s, v)
	default: // answerIt, askAgain
	}
	switch {
	case v.Question != nil:
		return v.Question.Text
	case refused:
		return a.notAsked(s, v)
	}
	return say("steer_answered")
}

// notAsked tells that no question is open, and to the second of two people who answer that the other one was faster.
func (a *API) notAsked(s spoken, v plan.View) string {
	if n := len(v.Answers); n > 0 && v.Answers[n-1].By != s.by.name && a.Now().Sub(time.UnixMilli(v.Answers[n-1].At)) <= utteranceAge {
		return a.sentence("steer_answered_before", s.locale, nil)
	}
	return a.sentence("steer_no_question", s.locale, nil)
}

func (a *API) sentence(key, locale string, values map[string]string) string {
	return catalog.Render(a.Catalog.Sentences[key].In(locale), values)
}
