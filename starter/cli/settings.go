package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"errand/internal/config"
)

// configCommand is errand config.
type configCommand struct{}

// Run prints the settings of every process. The robot's are its own to know, as any vendor's: it is asked.
func (configCommand) Run(s *session) error {
	err := config.Write(s.stdout,
		config.Section{Process: "errand serve", About: "the HTTP API", Spec: new(config.API)},
		config.Section{Process: "worker", About: "runs the plans", Spec: new(config.Worker)},
		config.Section{Process: "gateway", About: "holds the devices' connections", Spec: new(config.Gateway)},
		config.Section{Process: "errand", About: "commands that ask the API", Spec: new(config.Client)},
		config.Section{Process: "errand dev", About: "everything on one machine", Spec: new(config.Dev)})
	return errors.Join(err, config.WriteTemporal(s.stdout), askConfig(s, "robot"))
}

// askConfig prints what a program says of its settings.
func askConfig(s *session, program string) error {
	var where config.Dev
	if err := config.Load(&where); err != nil {
		return err
	}
	if where.Bin == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the program errand itself: %w", err)
		}
		where.Bin = filepath.Dir(self)
	}
	command := exec.CommandContext(s.ctx, filepath.Join(where.Bin, program), "config")
	table, err := command.Output()
	if errors.Is(err, os.ErrNotExist) {
		_, err = fmt.Fprintf(s.stdout, "%s: not in %s; `%s config` lists its settings\n\n", program, where.Bin, program)
		return err
	}
	if err != nil {
		return fmt.Errorf("%s config: %w", program, err)
	}
	_, err = fmt.Fprintf(s.stdout, "%s: a simulated one, as it says itself\n%s", program, table)
	return err
}
