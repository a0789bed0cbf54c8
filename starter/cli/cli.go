package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/alecthomas/kong"

	"errand/internal/border"
	"errand/internal/config"
	"errand/starter/api"
)

// Exit codes of errand.
const (
	exitOK     = 0
	exitFailed = 1
	exitInput  = 2
)

// commandLine is every command there is.
type commandLine struct {
	Dev   devCommand   `cmd:"" help:"Run everything on this machine: Temporal and its UI, worker, gateway, API, a simulated robot."`
	Run   runCommand   `cmd:"" help:"Say something to a device and watch what becomes of it."`
	Plan  planCommands `cmd:"" help:"Check, submit, watch and cancel plans."`
	Serve serveCommand `cmd:"" help:"Serve the HTTP API."`

	Device struct {
		List    deviceList    `cmd:"" help:"List the devices."`
		Show    deviceShow    `cmd:"" help:"Show one device: its rooms, and whose turn it is."`
		Invite  deviceInvite  `cmd:"" help:"Make a setup code, and its QR code, with which one device comes in by itself."`
		Approve deviceApprove `cmd:"" help:"Let a device in, with what it advertises."`
		Revoke  deviceRevoke  `cmd:"" help:"Throw a device out."`
		Stop    deviceStop    `cmd:"" help:"Emergency stop: nothing moves the device until it is released. Needs no Temporal."`
		Move    deviceMove    `cmd:"" help:"Put a device in a home."`
		Release deviceRelease `cmd:"" help:"Release an emergency stop."`
		Forget  deviceForget  `cmd:"" help:"End a device's quarantine: you see that nothing moves it."`
		Strays  deviceStrays  `cmd:"" help:"List the events of a device that entered no plan: late, unmatched or refused."`
	} `cmd:"" help:"Look at devices, let them in and throw them out."`
	Home struct {
		Add  homeAdd  `cmd:"" help:"Make a home, or change the name and the rights of the voices of one."`
		List homeList `cmd:"" help:"List the homes."`
	} `cmd:"" help:"Look at homes and make them."`
	User struct {
		Add    userAdd    `cmd:"" help:"Add a person to a home, and print their token, once."`
		List   userList   `cmd:"" help:"List the users."`
		Remove userRemove `cmd:"" help:"Remove a user: the token is void at once."`
	} `cmd:"" help:"Say who may command, confirm and hear in a home."`
	Catalog struct {
		Lint catalogLint `cmd:"" help:"Check a catalog file."`
		Show catalogShow `cmd:"" help:"Show what devices can do."`
	} `cmd:"" help:"Check and show catalogs."`
	Ready  readyCommand  `cmd:"" help:"Ask whether the API, or a gateway, is ready; exit 0 if so."`
	Config configCommand `cmd:"" help:"List every setting of every process, with its value and meaning."`
}

type planCommands struct {
	Validate planValidate `cmd:"" help:"Check a plan file; needs nothing running."`
	Submit   planSubmit   `cmd:"" help:"Carry out a plan file and watch it."`
	List     planList     `cmd:"" help:"List plans, the newest first."`
	Show     planShow     `cmd:"" help:"Show one plan."`
	Watch    planWatch    `cmd:"" help:"Watch a plan until it is over."`
	Cancel   planCancel   `cmd:"" help:"Ask a plan, or one step of it, to stop."`
	Pause    planPause    `cmd:"" help:"Hold a plan's next step; what runs goes on."`
	Resume   planResume   `cmd:"" help:"Take a pause back."`
	Amend    planAmend    `cmd:"" help:"Append steps to a plan, or replace those that have not begun."`
	Answer   planAnswer   `cmd:"" help:"Answer a plan's open question."`
}

// session is what every command works with.
type session struct {
	ctx    context.Context
	hurry  context.Context
	stdout io.Writer
	stderr io.Writer
}

// Main runs one command line and returns the exit code. The end of ctx interrupts it; hurry ends its patience.
func Main(ctx, hurry context.Context, args []string, stdout, stderr io.Writer) int {
	var line commandLine
	exited := -1
	parser, err := kong.New(&line, kong.Name("errand"),
		kong.Description("Carries out an assistant's plans on real devices, durably."),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exited = code }))
	if err != nil { // the declarations above are wrong
		fmt.Fprintf(stderr, "errand: %v\n", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	switch {
	case exited >= 0:
		return exited
	case err != nil:
		fmt.Fprintf(stderr, "errand: %v; `errand --help` lists the commands\n", err)
		return exitInput
	}
	s := &session{ctx: ctx, hurry: hurry, stdout: stdout, stderr: stderr}
	if err := command.Run(s); err != nil {
		fmt.Fprint(stderr, explain(err))
		return exitCode(err)
	}
	return exitOK
}

// inputError is an error whose cause is what we were given.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// input makes an error that is the caller's.
func input(format string, args ...any) error { return inputError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var faults border.Faults
	var given inputError
	var p *api.Problem
	switch {
	case errors.As(err, &given), errors.Is(err, config.ErrSettings), errors.As(err, &faults), errors.Is(err, os.ErrNotExist):
		return exitInput
	case errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusGone:
		return exitInput
	}
	return exitFailed
}

// explain is an error as its reader should see it: one line, and one more for each fault of a document.
func explain(err error) string {
	var p *api.Problem
	var faults border.Faults
	text := err.Error()
	switch {
	case errors.As(err, &p):
		text = p.Detail
		if len(p.Errors) > 0 && p.Status == http.StatusUnprocessableEntity {
			faults, text = p.Errors, "the document was refused"
		}
	case errors.As(err, &faults):
		text = "the document has faults"
	}
	out := "errand: " + clean(text) + "\n"
	for _, f := range faults {
		path := f.Path
		if path == "" {
			path = "(document)"
		}
		out += fmt.Sprintf("  %s: %s (%s)\n", clean(path), clean(f.Message), clean(f.Code))
	}
	return out
}
