package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/router"
	"errand/starter/plans"
)

// verb is what an utterance asks of this API.
type verb string

// The verbs. All but start and follow need no planner, and none of them starts anything.
const (
	start      verb = "start"  // carry out a wish: a plan of its own
	follow     verb = "follow" // carry out a wish after what a plan does already
	stop       verb = "stop"   // cancel all that the device does
	cancelPlan verb = "cancel"
	pausePlan  verb = "pause"
	resumePlan verb = "resume"
	answerIt   verb = "answer" // the open question
	askAgain   verb = "ask"    // the words may answer the question, but not which way
	nothing    verb = "nothing"
	unsettled  verb = "unsettled" // as nothing, but what an earlier plan began may still move the device
	several    verb = "several"   // which plan was meant cannot be told
	mixed      verb = "mixed"
	noQuestion verb = "no_question"
)

// intent is what an utterance was taken to mean, when it was first heard. The registry keeps it under the utterance's key, so
// that a repeat means the same, whatever has become of the device's plans since. It holds no word of what was said.
type intent struct {
	Verb verb `json:"verb"`
	// Plans are those that it is about; the first one is told about in the answer.
	Plans      []string `json:"plans,omitempty"`
	QuestionID string   `json:"question_id,omitempty"`
	Choice     string   `json:"choice,omitempty"`
}

// kept is the intent as the registry keeps it. A plain start is the id of its plan.
func (i intent) kept(planID string) string {
	if i.Verb == start {
		return planID
	}
	raw, err := json.Marshal(i)
	if err != nil { // strings all of it
		panic("api: an intent is not JSON: " + err.Error())
	}
	return string(raw)
}

// intentOf reads what the registry kept.
func intentOf(kept string) intent {
	var i intent
	if json.Unmarshal([]byte(kept), &i) != nil || i.Verb == "" {
		return intent{Verb: start}
	}
	return i
}

// steering are the verbs of the controls that are about one plan.
var steering = map[router.Control]verb{router.Cancel: cancelPlan, router.Pause: pausePlan, router.Resume: resumePlan}

// meaning tells what an utterance asks for, without a model: most are wishes, which start a plan. wish is the wish without the
// words that make it a follow-up.
func (a *API) meaning(ctx context.Context, u Utterance, d registry.Device) (i intent, wish string, err error) {
	active := u.VoiceContext.ActiveWorkflowID
	heard, steers := router.Listen(a.Catalog, u.RecognizedText)
	wish, follows := router.FollowUp(a.Catalog, u.RecognizedText, d.Rooms)
	if !follows {
		wish = u.RecognizedText
	}
	_, counts := router.Counts(u.RecognizedText)
	switch {
	case heard.Control == router.Mixed:
		return intent{Verb: mixed}, wish, nil
	case heard.Control == router.Stop:
		i, err = a.everything(ctx, d.ID, active)
		return i, wish, err
	case !steers && !follows && !counts && active == "":
		return intent{Verb: start}, wish, nil
	}
	i, err = a.aboutOne(ctx, d.ID, active)
	if len(i.Plans) == 0 || err != nil {
		if !steers {
			i = intent{Verb: start} // nothing is under way, or which is meant cannot be told: a plan of its own
		}
		return i, wish, err
	}
	if steers || !follows {
		i, err = a.reply(ctx, u.RecognizedText, heard, i)
		return i, wish, err
	}
	i.Verb = follow
	return i, wish, nil
}

// reply tells what words mean to a plan: an answer to its question, if it has one that they fit, else what they say.
func (a *API) reply(ctx context.Context, text string, heard router.Heard, i intent) (intent, error) {
	if heard.Control == router.Cancel {
		i.Verb = cancelPlan
		return i, nil
	}
	look, stop := ctx, context.CancelFunc(func() {})
	if heard.Control == "" { // a wish, most likely: it need not wait long for a plan that cannot be asked
		look, stop = context.WithTimeout(ctx, a.PlanWait)
	}
	view, err := a.Plans.View(look, i.Plans[0])
	stop()
	if err != nil && heard.Control != "" {
		return i, err
	}
	if q := view.Question; q != nil && !view.State.Closed() {
		if choice, fits := a.choice(text, q); fits {
			i.Verb, i.QuestionID, i.Choice = answerIt, q.ID, choice
			return i, nil
		}
	}
	verb, steers := steering[heard.Control]
	switch {
	case steers:
		i.Verb = verb
	case heard.Control == "":
		i = intent{Verb: start}
	case view.Question != nil:
		i.Verb = askAgain
	default:
		i.Verb = noQuestion
	}
	return i, nil
}

// choice tells which choice of a question words are: one of its objects by what tells it apart, else one by its name.
func (a *API) choice(text string, q *plan.Question) (string, bool) {
	if n, fits := router.ChooseObject(text, q.Labels()); fits && n < len(q.Options) {
		return q.Choices[n], true
	}
	return router.Choose(a.Catalog, text, q.Choices[len(q.Options):]) // an object's id is no word
}

// everything is what a stop is about: all plans of the device, the one that moves it first.
func (a *API) everything(ctx context.Context, deviceID, active string) (intent, error) {
	ids, err := a.underWay(ctx, deviceID)
	if err != nil {
		return intent{}, err
	}
	if active != "" && !slices.Contains(ids, active) {
		ids = append(ids, active)
	}
	if len(ids) == 0 {
		return a.idle(ctx, deviceID)
	}
	return intent{Verb: stop, Plans: ids}, nil
}

// aboutOne is the plan that the speaker refers to: the one that is named, else the only one of the device.
func (a *API) aboutOne(ctx context.Context, deviceID, active string) (intent, error) {
	if active != "" {
		return intent{Plans: []string{active}}, nil
	}
	ids, err := a.underWay(ctx, deviceID)
	switch {
	case err != nil:
		return intent{}, err
	case len(ids) == 0:
		return a.idle(ctx, deviceID)
	case len(ids) > 1:
		return intent{Verb: several}, nil
	}
	return intent{Plans: ids}, nil
}

// idle is what can be said of a device without plans: nothing is under way, unless nobody knows how an earlier plan's task ended.
func (a *API) idle(ctx context.Context, deviceID string) (intent, error) {
	lease, err := a.Plans.Lease(ctx, deviceID)
	if err == nil && lease.Quarantine != nil {
		return intent{Verb: unsettled}, nil
	}
	return intent{Verb: nothing}, err
}

// mostPlans bounds how many of a device's plans are looked at.
const mostPlans = 100

// underWay lists the device's plans that are not over: the one that has its lease, those that wait for it, and those that have
// not come that far. The lease's own word comes first, since the list of plans is a moment behind.
func (a *API) underWay(ctx context.Context, deviceID string) ([]string, error) {
	lease, err := a.Plans.Lease(ctx, deviceID)
	if err != nil {
		return nil, err
	}
	var leased, ids []string
	if lease.Holder != nil {
		leased = append(leased, lease.Holder.PlanID)
	}
	for _, waits := range lease.Queue {
		leased = append(leased, waits.PlanID)
	}
	for _, id := range leased {
		line, err := a.Plans.Find(ctx, id)
		if err != nil && !errors.Is(err, plans.ErrNoPlan) {
			return nil, err
		}
		if err == nil && line.ClosedAt.IsZero() {
			ids = append(ids, id)
		}
	}
	lines, _, err := a.Plans.List(ctx, plans.Filter{DeviceID: deviceID, Open: true, Size: mostPlans})
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if !slices.Contains(ids, line.PlanID) && !slices.Contains(leased, line.PlanID) {
			ids = append(ids, line.PlanID)
		}
	}
	return ids, nil
}

// moving names, for people, what a plan has on the device now.
func (a *API) moving(v plan.View, locale string) (titles []string) {
	for _, step := range v.Steps {
		switch step.State {
		case plan.StepSubmitting, plan.StepAccepted, plan.StepRunning, plan.StepBlocked, plan.StepUnknown:
			title := a.sentence("steer_something", locale, nil) // its plan knows another catalog
			if c, known := a.whole.Capability(step.CapabilityID); known {
				title = c.Title.In(locale)
			}
			titles = append(titles, title)
		default: // not sent yet, or over
		}
	}
	return titles
}
