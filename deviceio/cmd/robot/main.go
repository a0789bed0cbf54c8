// Command robot is a simulated home robot that connects to a gateway like any vendor's.
//
//	robot                                      run until stopped; settings are environment variables (robot config)
//	robot ledger [--state-dir DIR] [--json]    what it physically did; works while it runs
//	robot answer QUESTION CHOICE               answer what it was asked to ask, for the person
//	robot objects                              the alarms, reminders, lights and doors it knows
//	robot hand DO KIND [ID] [FIELD=VALUE ...]  add, change or remove one of them by hand, past any plan
//	robot config                               every setting, with its default
//
// With ERRAND_ROBOT_PLAIN it is a vendor's TaskManager that meets the checklist and no more, without a gateway: the shim
// runs beside it (docs/shim.md).
//
// It says one line, "robot ready: <device id> ...", once it is connected for the first time, and one line in plain
// words for each physical change. SIGTERM stops it cleanly: a task that runs is left to be resumed at the next start.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"errand/deviceio/cmd/internal/program"
)

// commands is the command line.
type commands struct {
	Run     runCommand     `cmd:"" default:"1" help:"Run the robot until it is stopped."`
	Ledger  ledgerCommand  `cmd:"" help:"Print what the robot physically did."`
	Answer  answerCommand  `cmd:"" help:"Answer a question the robot was asked to ask."`
	Stop    stopCommand    `cmd:"" help:"Press the emergency stop on the robot."`
	Release releaseCommand `cmd:"" help:"Let the emergency stop on the robot go; the cloud's is released with errand device release."`
	Objects objectsCommand `cmd:"" help:"Print the alarms, reminders, lights and doors that the robot knows."`
	Hand    handCommand    `cmd:"" help:"Do something to one of them by hand, as a person in the home would."`
	Config  configCommand  `cmd:"" help:"Print every setting."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return program.Run(ctx, "robot", "A simulated home robot.", &commands{}, args, stdout, stderr)
}
