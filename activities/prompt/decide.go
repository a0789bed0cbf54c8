package prompt

import (
	"slices"
	"strings"

	"errand/internal/border"
	"errand/llm"
	"errand/plan"
)

const decideTask = `You decide what becomes of a plan that a home robot carries out, at a point where its meaning changed: a step failed or is blocked, a value is
missing, or the robot saw something. Answer with one of the decisions in "options", as JSON of the given shape:
- retry: try the step again. Where the robot saw something ("observed"), nothing failed: retry lets the plan go on as it was.
- ask: ask the person, with "question" in the language of the locale. The robot offers the choices that it can carry out.
- replan: "steps" take the place of the step and of all that has not begun. New ids; what is completed stays, and may be depended on.
- return: give up the rest and go back to the station.
- cancel: give up.
"tts_response" says in one sentence, in the language of the locale, what you decided. "reason" says why, for an operator.
Choose what the person would want, and the least that helps. When in doubt, ask.
`

// maxBefore bounds the earlier decisions that are told.
const maxBefore = 5

// maxDecisionText bounds a text of a decision, in characters: it is said, or read in one line.
const maxDecisionText = 300

// Decision asks for a decision at a boundary. s is made of the context in c.
func Decision(s *Setting, c plan.Decide) llm.Request {
	request := llm.Request{
		Instructions: decideTask + rules + Guidance(*s),
		Contents:     []string{encode(s.boundary(c)), s.Told()},
		Schema: object(map[string]*llm.Schema{
			"decision":     {Type: llm.String, Enum: kinds(c.Options)},
			"tts_response": {Type: llm.String},
			"reason":       {Type: llm.String},
			"question":     {Type: llm.String, Nullable: true},
			"choices":      {Type: llm.Array, Items: &llm.Schema{Type: llm.String}, Nullable: true},
		}, "decision", "tts_response", "reason"),
		Limits: llm.Limits{MaxOutputTokens: MaxOutputTokens},
		PlanID: c.View.PlanID, Purpose: "decide", Personal: s.Personal(),
	}
	if len(s.Offered) > 0 { // else there is nothing that a plan could be made of, and models take no empty enum
		request.Schema.Properties["steps"] = s.Steps()
		request.Schema.Properties["steps"].Nullable = true
	}
	if c.Utterance != "" {
		request.Personal = append(request.Personal, c.Utterance)
	}
	return request
}

func kinds(options []plan.DecisionKind) []string {
	out := make([]string, len(options))
	for i, kind := range options {
		out[i] = string(kind)
	}
	return out
}

// boundary is what happened and how the plan stands. All of it is told as the context is: bounded, and without what is
// never told. What is not told of it is on the setting's record.
func (s *Setting) boundary(c plan.Decide) map[string]any {
	t := &teller{left: s.LeftOut}
	b := c.Boundary
	what := map[string]any{"step_id": b.StepID, "reason_code": b.Report.Code, "recoverability": b.Report.Recoverability,
		"suggested_action": short(b.Report.SuggestedAction), "detail": short(b.Report.Detail)}
	if params, ok := t.value("reason_params", b.Report.Params, 1); ok && len(b.Report.Params) > 0 {
		what["reason_params"] = params
	}
	if o := b.Observed; o != nil {
		seen := map[string]any{"kind": short(o.Kind), "place": short(o.Place), "confidence": o.Confidence}
		if facts, ok := t.value("facts", o.Facts, 1); ok && len(o.Facts) > 0 {
			seen["facts"] = facts
		}
		what["observed"] = seen
		delete(what, "reason_params") // the same again
	}
	if b.Unseen != "" {
		what["device_context"] = "could not be read: " + short(b.Unseen)
	}
	if b.Refused != "" {
		what["refused_plan"] = "the plan you proposed was refused: " + shortTo(b.Refused, maxAgain)
	}
	told := map[string]any{"boundary": what, "options": kinds(c.Options), "decisions_left": c.Left, "locale": c.Locale,
		"plan": t.plan(c.View)}
	if c.Utterance != "" {
		told["utterance"] = map[string]any{"recognized_text": shortTo(c.Utterance, maxAgain)}
	}
	s.LeftOut = t.left
	return told
}

// plan is a plan as it stands, for whoever decides about it or adds to it.
func (t *teller) plan(v plan.View) map[string]any {
	return map[string]any{"plan_revision": v.Plan.PlanRevision, "steps": t.steps(v), "decided_before": before(v)}
}

// steps tells each step's end. A result is told only of a step that is completed and was not contradicted, and only what its
// contract lists is left of it (law 4).
func (t *teller) steps(v plan.View) []any {
	told := make([]any, 0, len(v.Steps))
	for _, step := range v.Steps {
		line := map[string]any{"id": step.ID, "capability_id": step.CapabilityID, "state": step.State}
		if step.OutputKey != "" {
			line["output_key"] = step.OutputKey
		}
		if arguments, ok := t.value("steps.arguments", step.Arguments, 1); ok && len(step.Arguments) > 0 {
			line["arguments"] = arguments
		}
		if step.Reason != nil {
			line["reason_code"] = step.Reason.Code
		}
		if step.State == plan.StepCompleted {
			line["verdict"] = step.Verdict
			if result, ok := t.value("steps.result", v.Plan.StepResults[step.ID].Result, 1); ok && step.Verdict != plan.Contradicted {
				line["result"] = result
			}
		}
		told = append(told, line)
	}
	return told
}

// before lists what was decided so far: the same again would not help.
func before(v plan.View) []any {
	list := []any{}
	for _, e := range v.Journal {
		if e.Kind == "decision" {
			list = append(list, map[string]any{"step_id": e.Step, "reason_code": e.From, "decision": e.To})
		}
	}
	return list[max(0, len(list)-maxBefore):]
}

// answered are the fields of a decision.
type answered struct {
	Decision    string   `json:"decision"`
	TTSResponse string   `json:"tts_response"`
	Reason      string   `json:"reason"`
	Question    string   `json:"question"`
	Choices     []string `json:"choices"`
	Steps       any      `json:"steps"`
}

// ReadDecision reads a model's decision strictly: JSON within limits, one of the options, with no field that a decision does
// not have. A new plan that cannot be read is a decision all the same, with its faults in Refused: the machine lets the
// decider try that once more.
func ReadDecision(text string, options []plan.DecisionKind) (plan.Decided, border.Faults) {
	tree, faults := parse(text)
	if faults != nil {
		return plan.Decided{}, faults
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return plan.Decided{}, border.Faults{{Code: "wrong_type", Message: "must be a JSON object"}}
	}
	var a answered
	if faults = strictDecision(fields); len(faults) == 0 {
		faults = asFaults(border.Fill(fields, &a))
	}
	if len(faults) > 0 {
		return plan.Decided{}, faults
	}
	d := plan.Decided{Decision: plan.DecisionKind(a.Decision), TTSResponse: shortTo(a.TTSResponse, maxDecisionText),
		Reason: shortTo(a.Reason, maxDecisionText), Question: shortTo(a.Question, maxDecisionText)}
	if !slices.Contains(options, d.Decision) {
		faults = append(faults, border.Fault{Path: "decision", Code: "not_an_option", Message: "is none of those that could be carried out"})
	}
	if d.Decision == plan.DecideAsk && d.TTSResponse == "" {
		d.TTSResponse = d.Question
	}
	if d.Decision == plan.DecideReplan {
		steps, wrong := ReadSteps(a.Steps)
		if d.Steps = steps; len(wrong) > 0 {
			d.Refused = shortTo(wrong.Error(), maxAgain)
		}
	}
	return d, faults
}

// strictDecision faults what a decision does not have; its steps are read by themselves.
func strictDecision(fields map[string]any) (faults border.Faults) {
	for name, value := range fields {
		_, isText := value.(string)
		switch name {
		case "decision", "tts_response", "reason", "question":
			if !isText {
				faults = append(faults, border.Fault{Path: name, Code: "wrong_type", Message: "must be a text"})
			}
		case "choices", "steps":
			if _, isList := value.([]any); !isList {
				faults = append(faults, border.Fault{Path: name, Code: "wrong_type", Message: "must be a list"})
			}
		default:
			faults = append(faults, border.Fault{Path: name, Code: "unknown_field", Message: "a decision has no such field"})
		}
	}
	slices.SortFunc(faults, func(a, b border.Fault) int { return strings.Compare(a.Path, b.Path) })
	return faults
}
