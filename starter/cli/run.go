package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"errand/starter/api"
)

// runCommand is errand run.
type runCommand struct {
	Utterance string `arg:"" help:"What to say, e.g. \"안방으로 가서 청정하고 복귀해줘\"."`
	Device    string `short:"d" help:"Device id or friendly name; not needed while there is only one."`
	Locale    string `help:"Language of the answers, e.g. ko or en."`
	Verbose   bool   `short:"v" help:"Print every entry of the plan's journal."`
}

// Run says it and watches.
func (r *runCommand) Run(s *session) error {
	if err := r.check(); err != nil {
		return err
	}
	c, err := newClient()
	if err != nil {
		return err
	}
	return r.say(s.ctx, c, s.stdout)
}

func (r *runCommand) check() error {
	if strings.TrimSpace(r.Utterance) == "" {
		return input("the utterance is empty: say what is to be done")
	}
	return nil
}

func (r *runCommand) say(ctx context.Context, c *client, out io.Writer) error {
	// An id of our own makes it safe to send again.
	body, err := json.Marshal(api.Utterance{RecognizedText: r.Utterance, UtteranceID: "cli-" + rand.Text(), DeviceID: r.Device, Locale: r.Locale})
	if err != nil {
		return err
	}
	var started api.Started
	if err := c.post(ctx, "/v1/utterances", body, &started); err != nil {
		return err
	}
	if started.PlanID == "" { // words to a plan, and there is none
		fmt.Fprintln(out, clean(started.TTSResponse))
		return nil
	}
	fmt.Fprintf(out, "%q → plan %s\n", clean(r.Utterance), started.PlanID)
	return follow(ctx, c, &printer{out: out, verbose: r.Verbose, zone: time.Local}, started.PlanID, started.UIURL)
}
