package load

import (
	"fmt"
	"slices"
	"strings"

	"errand/catalog"
	"errand/internal/border"
)

// PlanSentences lists the sentences about a whole plan that every catalog has, with the places each may use.
//
// `steps` is what was said about the steps, `rest` how those stand that came to no end, `reason` a reason's own sentence, `said` a
// room as the person named it, `known` the rooms there are, `offers` what can be asked for, `what` what steps do, `which` the
// object or the room of one, `choices` the objects there are. Those that begin with ask are questions, those that begin with steer
// answer words that steer, and those that begin with step or rest are parts of others.
func PlanSentences() map[string][]string {
	return map[string][]string{
		"done": {"steps"}, "done_unsure": {"steps"}, "done_otherwise": {"steps", "rest"}, "partly": {"steps", "reason", "rest"}, "failed": {"steps", "reason", "rest"},
		"returned": {"steps", "reason", "rest"}, "not_as_expected": {"steps", "rest"}, "not_confirmed": {"steps", "what"}, "unresolved": {"steps", "reason", "rest"},
		"cancelled": {"steps", "rest"}, "cancelled_unbegun": {}, "cancelled_late": {"steps"}, "cancelled_unresolved": {"steps", "rest"},
		"step_named": {"what", "which"}, "step_contradicted": {"what"}, "rest_stopped": {"what"}, "rest_unstarted": {"what"}, "rest_unknown": {"what"},
		"no_plan": {"offers"}, "cannot_ground": {"said", "known"}, "ambiguous_room": {"said", "known"},
		"no_model": {"offers"}, "model_down": {"offers"}, "model_spent": {"offers"}, "model_refused": {}, "plan_unsure": {"offers"}, "which_room": {"known"},
		"ask_decision": {"reason"}, "ask_decision_skip": {"reason"}, "ask_continue": {"reason"}, "ask_wait": {"reason"}, "ask_rest": {"reason"}, "ask_rest_skip": {"reason"},
		"ask_confirm": {"what"}, "ask_select": {"what", "choices"}, "ask_select_again": {"what", "choices"}, "ask_late": {}, "ask_unverified": {"steps"},
		"ask_untold":    {"what"},
		"steer_nothing": {}, "steer_foreign": {}, "steer_unsettled": {}, "steer_several": {}, "steer_over": {}, "steer_stopping": {"what"}, "steer_stopped": {}, "steer_pausing": {"what"},
		"steer_something": {}, "steer_paused": {}, "steer_resumed": {}, "steer_held": {}, "steer_not_paused": {}, "steer_answered": {}, "steer_answered_before": {}, "steer_no_question": {},
		"steer_mixed": {}, "steer_rest": {"said"}, "follow_up_taken": {}, "follow_up_refused": {},
	}
}

// linter collects what is wrong with a catalog as a whole, each with its path.
type linter struct {
	catalog *catalog.Catalog
	whole   catalog.Slice
	faults  border.Faults
}

// Lint checks what a schema cannot: that names are unique and known, that conditions and templates compile,
// and that every routine would pass the same borders as a planner's plan. The order is the catalog's own.
func Lint(c *catalog.Catalog) border.Faults {
	l := &linter{catalog: c, whole: c.Whole()}
	l.impacts()
	l.capabilities()
	l.reasons()
	l.routines()
	l.watches()
	l.safeReturn()
	l.sentences()
	l.controls()
	return l.faults
}

func (l *linter) fault(path, code, format string, args ...any) {
	l.faults = append(l.faults, border.Fault{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// unique faults each value that came before; path gives the place of the i-th.
func (l *linter) unique(what string, values []string, path func(int) string) {
	first := make(map[string]int, len(values))
	for i, v := range values {
		if j, again := first[v]; again {
			l.fault(path(i), "duplicate", "is the same %s %q as %s", what, v, path(j))
			continue
		}
		first[v] = i
	}
}

// each maps a list to the strings to compare.
func each[T any](items []T, of func(T) string) []string {
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = of(item)
	}
	return values
}

// at makes a path function for one field of a list's items.
func at(list, field string) func(int) string {
	return func(i int) string { return border.Field(border.Index(list, i), field) }
}

func (l *linter) reasons() {
	l.unique("reason code", each(l.catalog.Reasons, func(r catalog.Reason) string { return r.Code }), at("reasons", "code"))
	for i, r := range l.catalog.Reasons {
		path := border.Index("reasons", i)
		recovers := r.Recovery.Action == "retry" || r.Recovery.Action == "wait"
		switch {
		case recovers && r.Recovery.MaxAttempts < 1:
			l.fault(border.Field(path, "recovery"), "unbounded", "needs max_attempts: a recovery is bounded (law 13)")
		case recovers && r.Recoverability == "permanent":
			l.fault(border.Field(path, "recovery"), "contradiction", "tries again what is permanent")
		case !recovers && (r.Recovery.MaxAttempts > 0 || r.Recovery.BackoffMs > 0):
			l.fault(border.Field(path, "recovery"), "contradiction", "counts attempts of an action that does nothing")
		case r.Default == "retry" && r.Recoverability == "permanent":
			l.fault(border.Field(path, "default"), "contradiction", "tries again what is permanent")
		}
		l.text(border.Field(path, "say"), r.Say, nil)
	}
}

func (l *linter) watches() {
	l.unique("observation kind", each(l.catalog.Watches, func(w catalog.Watch) string { return w.Kind }), at("watches", "kind"))
	for i, w := range l.catalog.Watches {
		path := border.Field(border.Index("watches", i), "routine")
		at := slices.IndexFunc(l.catalog.Routines, func(r catalog.Routine) bool { return r.ID == w.Routine })
		switch {
		case at < 0:
			l.fault(path, "unknown_routine", "names the unknown routine %q", w.Routine)
		case len(l.catalog.Routines[at].Slots) > 0:
			l.fault(path, "unfilled_slot", "starts %q, whose slots only a sentence can fill", w.Routine)
		}
	}
}

// safeReturn checks that giving up can be carried out without asking anybody anything.
func (l *linter) safeReturn() {
	r := l.catalog.SafeReturn
	if r == nil {
		for i, reason := range l.catalog.Reasons {
			if reason.Default == "return" {
				l.fault(border.Field(border.Index("reasons", i), "default"), "no_safe_return", "returns, but the catalog has no safe_return")
			}
		}
		return
	}
	c, ok := l.whole.Capability(r.CapabilityID)
	switch {
	case !ok:
		l.fault("safe_return.capability_id", "unknown_capability", "names the unknown capability %q", r.CapabilityID)
	case !c.HasOperation(r.OperationID):
		l.fault("safe_return.operation_id", "unknown_operation", "%s has no operation %q", c.ID, r.OperationID)
	case c.Impact == catalog.Persistent || c.Impact == catalog.Irreversible:
		l.fault("safe_return.capability_id", "not_reversible", "%s is %s: what nobody confirmed must be reversible", c.ID, c.Impact)
	case slices.ContainsFunc(c.Slots, func(s catalog.Slot) bool { return s.Required }):
		l.fault("safe_return.capability_id", "needs_arguments", "%s needs arguments, which nobody gives", c.ID)
	}
}

func (l *linter) sentences() {
	required := PlanSentences()
	for _, name := range sortedKeys(required) {
		if _, ok := l.catalog.Sentences[name]; !ok {
			l.fault(border.Field("sentences", name), "required", "is missing: it is said about a whole plan")
		}
	}
	for _, name := range sortedKeys(l.catalog.Sentences) {
		path := border.Field("sentences", name)
		if _, ok := required[name]; !ok {
			l.fault(path, "unknown_sentence", "is never said: the sentences are %s", strings.Join(sortedKeys(required), ", "))
			continue
		}
		l.text(path, l.catalog.Sentences[name], required[name])
	}
}

// Controls lists what the words that steer can mean (package router).
func Controls() []string {
	return []string{"stop", "cancel", "pause", "resume", "yes", "no", "retry", "skip", "follow_up"}
}

// controls checks the words that steer. None means two things, or what it does would be a guess.
func (l *linter) controls() {
	for _, name := range Controls() {
		if _, ok := l.catalog.Controls[name]; !ok {
			l.fault(border.Field("controls", name), "required", "is missing: it is how people steer what is under way")
		}
	}
	taken := map[string]string{}
	for _, name := range sortedKeys(l.catalog.Controls) {
		path := border.Field("controls", name)
		if !slices.Contains(Controls(), name) {
			l.fault(path, "unknown_control", "means nothing here: the controls are %s", strings.Join(Controls(), ", "))
			continue
		}
		l.utterances(l.catalog.Controls[name], nil, path, taken)
	}
}

// text checks both languages of a sentence: places close, particles are known, names are among those allowed.
func (l *linter) text(path string, t catalog.Text, allowed []string) {
	l.sentence(path, t, func(name string) bool { return slices.Contains(allowed, name) })
}

// sentence is text for places that a function knows.
func (l *linter) sentence(path string, t catalog.Text, fills func(place string) bool) {
	for _, s := range []struct{ language, sentence string }{{"ko", t.Ko}, {"en", t.En}} {
		names, ok := catalog.Places(s.sentence)
		if !ok {
			l.fault(border.Field(path, s.language), "bad_sentence", "has a place that is not {name} or {name:particle}, or a bracket that is not closed")
			continue
		}
		for _, name := range names {
			if !fills(name) {
				l.fault(border.Field(path, s.language), "unknown_place", "uses {%s}, which nothing fills here", name)
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
