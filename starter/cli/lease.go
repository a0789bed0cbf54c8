package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"errand/catalog/fresh"
	"errand/plan/lease"
	"errand/starter/api"
)

type deviceShow struct {
	Device string `arg:"" help:"Device id or friendly name."`
	JSON   bool   `name:"json" help:"Print all that is known of it, as JSON."`
}

// Run prints the device, its rooms and whose turn it is.
func (d *deviceShow) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var device api.DeviceAnswer
	if err := c.get(s.ctx, "/v1/devices/"+url.PathEscape(d.Device), &device); err != nil {
		return err
	}
	if d.JSON {
		return printJSON(s, device)
	}
	printDevice(s.stdout, device, time.Local)
	return nil
}

func printDevice(out io.Writer, d api.DeviceAnswer, zone *time.Location) {
	online := "offline"
	if d.Online {
		online = "online"
	}
	fmt.Fprintf(out, "device     %s\n", clean(strings.TrimSpace(d.Name()+" "+d.ID)))
	fmt.Fprintf(out, "state      %s, %s, last seen %s\n", d.State, online, d.LastSeenAt.In(zone).Format("Jan 2, 15:04:05 MST"))
	fmt.Fprintf(out, "home       %s\n", orDash(clean(d.HomeID)))
	if d.Route != nil {
		fmt.Fprintf(out, "gateway    %s, connection %d, boot %d\n", clean(d.Route.GatewayID), d.Route.ConnectionEpoch, d.Route.BootEpoch)
	}
	printStop(out, d.Device)
	printOtherKey(out, d.Device, zone)
	printSurface(out, d.Device)
	rooms := make([]string, len(d.Rooms))
	for i, r := range d.Rooms {
		rooms[i] = r.Name
	}
	fmt.Fprintf(out, "rooms      %s\n", orDash(oneLine(strings.Join(rooms, ", "))))
	printSources(out, d.Sources)
	if d.Lease == nil {
		fmt.Fprintf(out, "lease      unknown: %s\n", oneLine(d.LeaseUnknown))
		return
	}
	printLease(out, *d.Lease, zone)
}

// printSources prints how old what the device knows is, and what of it decides nothing any more.
func printSources(out io.Writer, sources []fresh.Source) {
	if len(sources) == 0 {
		return
	}
	rows := [][]string{{"SOURCE", "POLICY", "OBSERVED", "REPORTED", "COUNTS"}}
	for _, s := range sources {
		counts := "yes"
		if !s.Usable {
			counts = "no: " + s.Why
		}
		rows = append(rows, []string{clean(s.Name), orDash(clean(s.Policy)), age(s.ObservedAgo), age(s.ReportedAgo), counts})
	}
	fmt.Fprintln(out)
	table(out, rows)
	fmt.Fprintln(out)
}

// age is a time span of milliseconds for people.
func age(ms int64) string {
	if ms < 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).Round(time.Second).String() + " ago"
}

// printLease prints whose turn it is: what Temporal's UI shows of the lease, in the same words.
func printLease(out io.Writer, v lease.View, zone *time.Location) {
	fmt.Fprintf(out, "lease      %s\n", v.State)
	if q := v.Quarantine; q != nil {
		fmt.Fprintf(out, "why        %s, since %s\n", oneLine(q.Why), clock(q.Since, zone))
		fmt.Fprintf(out, "waits for  %s\n", oneLine(q.WaitsFor))
	}
	rows := [][]string{{"TURN", "PLAN", "SINCE", "POLICY", "PRIORITY", "BY"}}
	if v.Holder != nil {
		rows = append(rows, turn("holds it", v.Holder.WaitView, zone))
	}
	for i, w := range v.Queue {
		rows = append(rows, turn(fmt.Sprint(i+1), w, zone))
	}
	if len(rows) > 1 {
		fmt.Fprintln(out)
		table(out, rows)
	}
	if v.Quarantine != nil {
		fmt.Fprintln(out)
		table(out, unsettled(v.Quarantine.Operations, zone))
	}
	for _, f := range v.Forgotten {
		fmt.Fprintf(out, "\nforgotten by %s, %s: %s (%s)\n", oneLine(f.By), clock(f.At, zone), oneLine(f.Why), orDash(strings.Join(f.Operations, ", ")))
	}
}

func turn(which string, w lease.WaitView, zone *time.Location) []string {
	return []string{which, clean(w.PlanID), clock(w.Since, zone), string(w.Policy), fmt.Sprint(w.Priority), orDash(oneLine(w.By))}
}

func unsettled(operations []lease.OperationView, zone *time.Location) [][]string {
	rows := [][]string{{"MAY STILL MOVE IT", "WHY", "SINCE", "ITS CANCEL", "ASKED"}}
	for _, op := range operations {
		rows = append(rows, []string{clean(op.ID), oneLine(op.Why), clock(op.Since, zone), orDash(string(op.Cancel)), fmt.Sprint(op.Asked)})
	}
	return rows
}

type deviceForget struct {
	Device string `arg:"" help:"Device id or friendly name."`
	Why    string `required:"" help:"How you know that nothing moves it any more, for the record."`
	By     string `help:"Your name, for the record."`
}

// Run ends the quarantine and prints how the lease stands then.
func (d *deviceForget) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	body, err := json.Marshal(api.ForgetBody{Why: d.Why, By: d.By})
	if err != nil {
		return err
	}
	var view lease.View
	if err := c.post(s.ctx, "/v1/devices/"+url.PathEscape(d.Device)+"/forget", body, &view); err != nil {
		return err
	}
	printLease(s.stdout, view, time.Local)
	return nil
}
