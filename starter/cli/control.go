package cli

import (
	"encoding/json"
	"fmt"
	"net/url"

	"errand/plan"
	"errand/starter/api"
)

type planCancel struct {
	ID     string `arg:"" help:"Plan id."`
	Reason string `help:"Why, for the record."`
	Step   string `help:"Only this step, with what depends on it; the rest goes on."`
}

// Run asks for the cancel; what physically happens then is the plan's outcome.
func (p *planCancel) Run(s *session) error {
	return control(s, p.ID, "cancel", api.CancelBody{Reason: p.Reason, StepID: p.Step})
}

type planAnswer struct {
	ID       string `arg:"" help:"Plan id."`
	Question string `arg:"" help:"Question id, as plan show prints it."`
	Choice   string `arg:"" help:"One of the choices."`
}

// Run answers the question.
func (p *planAnswer) Run(s *session) error {
	return control(s, p.ID, "answer", api.AnswerBody{QuestionID: p.Question, Choice: p.Choice})
}

func control(s *session, id, what string, request any) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var taken api.Taken
	if err := c.post(s.ctx, "/v1/plans/"+url.PathEscape(id)+"/"+what, body, &taken); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s taken; plan %s is %s\n", what, taken.PlanID, taken.State)
	return nil
}

type planPause struct {
	ID    string `arg:"" help:"Plan id."`
	Token string `help:"What this pause is known by; the plan goes on when every token is resumed. Default: who calls."`
}

// Run holds the plan.
func (p *planPause) Run(s *session) error {
	return control(s, p.ID, "pause", api.TokenBody{Token: p.Token})
}

type planResume struct {
	ID    string `arg:"" help:"Plan id."`
	Token string `help:"The token of the pause. Default: who calls."`
}

// Run lets the plan go on.
func (p *planResume) Run(s *session) error {
	return control(s, p.ID, "resume", api.TokenBody{Token: p.Token})
}

type planAmend struct {
	ID      string `arg:"" help:"Plan id."`
	File    string `arg:"" help:"File with the steps, as in a plan (JSON); - reads standard input."`
	Replace bool   `help:"Put them in the place of every step that has not begun."`
}

// Run amends the plan; the plan itself says what does not fit.
func (p *planAmend) Run(s *session) error {
	text, err := readFile(p.File)
	if err != nil {
		return err
	}
	doc, err := plan.Decode(text)
	if err != nil {
		return err
	}
	return control(s, p.ID, "amend", api.AmendBody{Steps: doc.Steps, Replace: p.Replace})
}
