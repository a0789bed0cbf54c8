// Package program is what the programs on a device's side have in common: how they read their command line, what they exit with,
// and how they print their settings.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"errand/internal/config"
)

// Run reads args by a grammar (a pointer to a struct of kong's) and runs the command they name, which may take the context and
// stdout. It exits 0 when all went well, 1 when something failed, 2 when arguments or settings make no sense.
func Run(ctx context.Context, name, description string, grammar any, args []string, stdout, stderr io.Writer) int {
	exited := -1
	parser, err := kong.New(grammar, kong.Name(name), kong.Description(description),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(stdout, (*io.Writer)(nil)))
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	chosen, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	senseless := err != nil
	if !senseless {
		err = chosen.Run()
		senseless = errors.Is(err, config.ErrSettings)
	}
	switch {
	case err == nil:
		return 0
	case senseless:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 2
	default:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
}

// PrintSettings prints every setting of a struct of envconfig's, secrets hidden.
func PrintSettings(out io.Writer, settings any) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVALUE\tDEFAULT\tUNIT\tMEANING")
	for _, s := range config.Settings(settings) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Value, s.Default, s.Unit, s.Meaning)
	}
	return table.Flush()
}
