package cli

import (
	"context"
	"errors"
	"fmt"

	"errand/internal/config"
	"errand/starter/dev"
)

// devCommand is errand dev.
type devCommand struct {
	Utterance *string `name:"run" placeholder:"UTTERANCE" xor:"once" help:"Once all is up say this, watch it, and take everything down."`
	Plan      *string `placeholder:"FILE" xor:"once" help:"Once all is up submit this plan, watch it, and take everything down."`
	StateDir  string  `placeholder:"DIR" help:"Where everything is kept (default: ERRAND_STATE, else .errand)."`
	Fresh     bool    `help:"Keep everything in a temporary folder that is removed at the end."`
	FreePorts bool    `help:"Use ports that are free instead of the well-known ones."`
	LLM       string  `name:"llm" enum:",none,standin,gemini,openai" default:"" help:"Language model: none, standin (rules that stand in for one: no key, no network), gemini or openai (default: ERRAND_LLM)."`
	Verbose   bool    `short:"v" help:"Print every line of every process."`
}

// Run runs everything.
func (d *devCommand) Run(s *session) error {
	options := dev.Options{StateDir: d.StateDir, Fresh: d.Fresh, FreePorts: d.FreePorts, LLM: d.LLM, Verbose: d.Verbose, Out: s.stdout, Hurry: s.hurry}
	var where config.Client
	if err := errors.Join(config.Load(&options.Dev), config.Load(&where)); err != nil {
		return err
	}
	if options.StateDir == "" {
		options.StateDir = where.State
	}
	// What cannot be said or submitted is told before anything is started.
	switch {
	case d.Utterance != nil:
		say := &runCommand{Utterance: *d.Utterance, Verbose: d.Verbose}
		if err := say.check(); err != nil {
			return err
		}
		options.Once = d.once(s, func(ctx context.Context, c *client) error { return say.say(ctx, c, s.stdout) })
	case d.Plan != nil:
		text, err := readFile(*d.Plan)
		if err != nil {
			return err
		}
		if _, _, err := checkPlan(text); err != nil {
			return err
		}
		submit := &planSubmit{File: *d.Plan, Verbose: d.Verbose}
		options.Once = d.once(s, func(ctx context.Context, c *client) error { return submit.submit(ctx, c, s.stdout, text) })
	}
	return dev.Run(s.ctx, options)
}

// once runs f against what is up, between empty lines.
func (d *devCommand) once(s *session, f func(context.Context, *client) error) func(context.Context, dev.Running) error {
	return func(ctx context.Context, up dev.Running) error {
		fmt.Fprintln(s.stdout)
		c := clientFor(up.API, up.Token)
		c.fleeting = !up.Lasting
		err := f(ctx, c)
		fmt.Fprintln(s.stdout)
		return err
	}
}
