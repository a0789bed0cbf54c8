package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"errand/deviceio/cmd/internal/program"
	"errand/deviceio/robot"
	"errand/internal/config"
)

type runCommand struct{}

// Run runs the robot.
func (runCommand) Run(ctx context.Context, out io.Writer) error {
	var s settings
	if err := config.Load(&s); err != nil {
		return err
	}
	logger, err := s.Logger()
	if err != nil {
		return err
	}
	home, err := s.home()
	if err != nil {
		return fmt.Errorf("%w: ERRAND_ROBOT_HOME: %w", config.ErrSettings, err)
	}
	options := robot.Options{StateDir: s.RobotState, Home: home, Speed: s.RobotSpeed, Report: reporter(out, s.RobotQuiet)}
	if s.RobotPlain {
		return robot.RunPlain(ctx, robot.PlainConfig{Options: options, Listen: s.RobotListen, EventsURL: s.ShimEvents, Token: s.VendorToken,
			Control: s.RobotControl, Logger: logger})
	}
	return robot.Run(ctx, robot.Config{
		Options: options,
		URL:     s.gateway(), Fingerprint: s.GatewayFingerprint, SetupCode: s.SetupCode, Token: s.Token, Name: s.RobotName, Control: s.RobotControl, Logger: logger,
	})
}

// reporter prints one line for each thing the robot does. The ready line is printed bare: programs wait for it.
func reporter(out io.Writer, quiet bool) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.HasPrefix(line, "robot ready:"):
			fmt.Fprintln(out, line)
		case !quiet:
			fmt.Fprintf(out, "%s robot %s\n", time.Now().Format("15:04:05.000"), line)
		}
	}
}

// where is the state directory of a command that looks at a robot.
type where struct {
	StateDir string `help:"The robot's state directory; default: ERRAND_ROBOT_STATE." type:"path"`
}

func (w where) dir() (string, error) {
	if w.StateDir != "" {
		return w.StateDir, nil
	}
	var s settings
	err := config.Load(&s)
	return s.RobotState, err
}

// dial reaches the running robot.
func (w where) dial() (*robot.Control, error) {
	dir, err := w.dir()
	if err != nil {
		return nil, err
	}
	return robot.DialControl(dir)
}

type ledgerCommand struct {
	where `embed:""`
	JSON  bool `help:"Print effects and motions as one JSON object."`
}

// Run prints the ledger.
func (c ledgerCommand) Run(out io.Writer) error {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	effects, err := robot.ReadLedger(dir)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("no robot has run in %s (ERRAND_ROBOT_STATE, or --state-dir): %w", dir, err)
	}
	if err != nil {
		return err
	}
	motions, err := robot.ReadMotions(dir)
	if err != nil {
		return err
	}
	byHand, err := robot.ReadByHand(dir)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(robot.Ledger{Effects: effects, Motions: motions, ByHand: byHand})
	}
	return printLedger(out, robot.Ledger{Effects: effects, Motions: motions, ByHand: byHand})
}

func printLedger(out io.Writer, l robot.Ledger) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "N\tAT\tEFFECT\tTARGET\tROOM\tOPERATION\tMETHOD\tREVISION\tBOOT")
	for _, e := range l.Effects {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", e.N, clock(e.At), e.Kind, e.TargetID, e.RoomID, e.OperationID, e.TaskMethod, e.WorldRevision, e.BootID)
	}
	fmt.Fprintln(table, "\nN\tFROM\tTO\tMOTION\tOPERATION\tRESUMED")
	for _, m := range l.Motions {
		end, what := clock(m.EndedAt), "stopped on the way"
		switch {
		case m.Completed:
			what = "arrived"
		case m.EndedAt == 0:
			end, what = "", "under way"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%d\n", m.N, clock(m.StartedAt), end, what, m.OperationID, m.Resumed)
	}
	if len(l.ByHand) > 0 {
		fmt.Fprintln(table, "\nN\tAT\tBY HAND\tTARGET")
	}
	for _, h := range l.ByHand {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", h.N, clock(h.At), h.Kind, h.TargetID)
	}
	return table.Flush()
}

func clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05.000") }

type answerCommand struct {
	where    `embed:""`
	Question string `arg:"" help:"Id of the question, as the robot printed it."`
	Choice   string `arg:"" help:"One of its choices."`
}

// Run answers the question through the running robot.
func (c answerCommand) Run(ctx context.Context) error {
	control, err := c.dial()
	if err != nil {
		return err
	}
	return control.Answer(ctx, c.Question, c.Choice)
}

type stopCommand struct {
	where `embed:""`
	Why   string `help:"Why, for the record."`
}

// Run presses the stop on the running robot.
func (c stopCommand) Run(ctx context.Context) error {
	control, err := c.dial()
	if err != nil {
		return err
	}
	return control.PressStop(ctx, c.Why)
}

type releaseCommand struct {
	where `embed:""`
}

// Run lets the stop on the running robot go.
func (c releaseCommand) Run(ctx context.Context) error {
	control, err := c.dial()
	if err != nil {
		return err
	}
	return control.ReleaseStop(ctx)
}

type configCommand struct{}

// Run prints the settings.
func (configCommand) Run(out io.Writer) error {
	return program.PrintSettings(out, &settings{})
}
