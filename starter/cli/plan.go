package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"text/tabwriter"
	"time"

	"errand/plan"
	"errand/starter/api"
)

// planValidate is errand plan validate: offline, against the catalog alone. Rooms are the device's to know: the API's
// plans:validate knows them.
type planValidate struct {
	File string `arg:"" help:"Plan file (JSON); - reads standard input."`
}

// Run prints every fault of the file.
func (p *planValidate) Run(s *session) error {
	text, err := readFile(p.File)
	if err != nil {
		return err
	}
	steps, version, err := checkPlan(text)
	if err != nil {
		return err
	}
	unit := "steps"
	if steps == 1 {
		unit = "step"
	}
	fmt.Fprintf(s.stdout, "%s: a plan of %d %s, without faults against catalog %s\n", clean(p.File), steps, unit, version)
	return nil
}

// checkPlan reads a plan document against the catalog in use and counts its steps.
func checkPlan(text []byte) (steps int, version string, err error) {
	known, err := configuredCatalog()
	if err != nil {
		return 0, "", err
	}
	whole := known.Whole()
	doc, faults := plan.Read(text, &whole, plan.Grounding{})
	return len(doc.Steps), known.CatalogVersion, faults.Err()
}

type planSubmit struct {
	File    string `arg:"" help:"Plan file (JSON); - reads standard input."`
	Key     string `help:"Idempotency key: the same key again is the same plan. Default: a new one."`
	NoWatch bool   `help:"Do not wait for its end."`
	Verbose bool   `short:"v" help:"Print every entry of the plan's journal."`
}

// Run submits the file and watches.
func (p *planSubmit) Run(s *session) error {
	text, err := readFile(p.File)
	if err != nil {
		return err
	}
	c, err := newClient()
	if err != nil {
		return err
	}
	return p.submit(s.ctx, c, s.stdout, text)
}

func (p *planSubmit) submit(ctx context.Context, c *client, out io.Writer, text []byte) error {
	if p.Key == "" {
		p.Key = "cli-" + rand.Text()
	}
	response, err := c.send(ctx, http.MethodPost, "/v1/plans", text, http.Header{"Idempotency-Key": {p.Key}})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	var started api.Started
	if err := json.NewDecoder(response.Body).Decode(&started); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	fmt.Fprintf(out, "%s → plan %s\n", clean(p.File), started.PlanID)
	if p.NoWatch {
		return nil
	}
	return follow(ctx, c, &printer{out: out, verbose: p.Verbose, zone: time.Local}, started.PlanID, started.UIURL)
}

type planWatch struct {
	ID      string `arg:"" help:"Plan id."`
	Verbose bool   `short:"v" help:"Print every entry of the plan's journal."`
}

// Run watches from the plan's beginning, and says how the plan stands once it has told what happened so far.
func (p *planWatch) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	shown, err := c.plan(s.ctx, p.ID)
	if err != nil {
		return err
	}
	return follow(s.ctx, c, &printer{out: s.stdout, verbose: p.Verbose, zone: time.Local, now: &shown.View}, p.ID, shown.UIURL)
}

type planList struct {
	State  string `help:"Only plans in this state, e.g. running or completed."`
	Device string `short:"d" help:"Only plans of this device."`
	Size   int    `default:"20" help:"At most so many (1 to 200)."`
}

// Run prints a line for each plan.
func (p *planList) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	query := url.Values{"size": {fmt.Sprint(p.Size)}}
	if p.State != "" {
		query.Set("state", p.State)
	}
	if p.Device != "" {
		query.Set("device", p.Device)
	}
	var list api.PlanList
	if err := c.get(s.ctx, "/v1/plans?"+query.Encode(), &list); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "PLAN\tSTATE\tSTEP\tREASON\tSTARTED")
	for _, l := range list.Plans {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", l.PlanID, orDash(string(l.State)), orDash(l.Step), orDash(l.Reason), l.StartedAt.Local().Format(time.DateTime))
	}
	return tab.Flush()
}

type planShow struct {
	ID string `arg:"" help:"Plan id."`
}

// Run prints where the plan and its steps stand.
func (p *planShow) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	v, err := c.plan(s.ctx, p.ID)
	if err != nil {
		return err
	}
	show(s.stdout, v, time.Local)
	return nil
}

func (c *client) plan(ctx context.Context, id string) (v api.PlanAnswer, err error) {
	err = c.get(ctx, "/v1/plans/"+url.PathEscape(id), &v)
	return v, err
}

func show(out io.Writer, v api.PlanAnswer, zone *time.Location) {
	standing(out, v.View, zone)
	if o := v.Outcome; o != nil {
		fmt.Fprintf(out, "\nsentence   %s\nverified   %d/%d steps\nLLM calls  %d\n", orDash(oneLine(o.TTSResponse)), o.Verified, len(o.Steps), o.LLMCalls)
	}
	if v.UIURL != "" {
		fmt.Fprintf(out, "\nin the UI  %s\n", v.UIURL)
	}
}

// readFile reads a file, or standard input for "-".
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, input("the file cannot be read: %w", err)
	}
	return text, nil
}
