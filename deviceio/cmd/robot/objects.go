package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"errand/deviceio/robot"
)

type objectsCommand struct {
	where `embed:""`
}

// Run prints what the running robot knows, as its planning context tells it.
func (c objectsCommand) Run(ctx context.Context, out io.Writer) error {
	control, err := c.dial()
	if err != nil {
		return err
	}
	seen, err := control.Context(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tID\tREVISION\tWHAT")
	row := func(k robot.Kind, o robot.Object, what ...string) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", k, o.ID, o.Revision, strings.TrimSpace(strings.Join(what, " ")))
	}
	for _, a := range seen.Alarms.Items {
		row(robot.KindAlarm, a.Object, a.Time, a.Label, either(a.Enabled, "", "(disabled)"))
	}
	for _, r := range seen.Reminders.Items {
		row(robot.KindReminder, r.Object, r.Due, r.Text, either(r.Done, "(done)", ""))
	}
	for _, l := range seen.Lights.Items {
		row(robot.KindLight, l.Object, l.RoomName, l.Name, either(l.On, "on", "off"))
	}
	for _, d := range seen.Doors.Items {
		row(robot.KindDoor, d.Object, d.RoomName, d.Name, either(d.Open, "open", either(d.Locked, "locked", "unlocked")))
	}
	return table.Flush()
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

type handCommand struct {
	where `embed:""`
	Do    string   `arg:"" enum:"add,change,remove" help:"add, change or remove."`
	Kind  string   `arg:"" enum:"alarm,reminder,light,door" help:"alarm, reminder, light or door."`
	Rest  []string `arg:"" optional:"" name:"id-and-fields" help:"The object's id, but for add; then its fields, such as open=true or time=06:30."`
}

// Run has the running robot's home changed, and prints the object's id.
func (c handCommand) Run(ctx context.Context, out io.Writer) error {
	h := robot.Hand{Do: c.Do, Kind: robot.Kind(c.Kind), Set: map[string]any{}}
	for _, word := range c.Rest {
		field, value, isField := strings.Cut(word, "=")
		switch {
		case isField && (value == "true" || value == "false"):
			h.Set[field] = value == "true"
		case isField:
			h.Set[field] = value
		case h.ID != "":
			return fmt.Errorf("%q: want one id, and then fields such as open=true", word)
		default:
			h.ID = word
		}
	}
	control, err := c.dial()
	if err != nil {
		return err
	}
	id, err := control.ByHand(ctx, h)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, id)
	return err
}
