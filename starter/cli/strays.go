package cli

import (
	"fmt"
	"io"
	"net/url"
	"text/tabwriter"
	"time"

	"errand/starter/api"
)

// deviceStrays is errand device strays.
type deviceStrays struct {
	Device string `arg:"" optional:"" help:"Device id or friendly name. Default: the only device there is."`
	Size   int    `default:"50" help:"At most so many (1 to 200)."`
	Page   string `help:"Token of the page, as the page before printed it."`
	JSON   bool   `name:"json" help:"Print the page as JSON, each event as it was kept."`
}

// Run prints a line for each event that entered no plan's history: what it was, what the device was told, and why.
func (d *deviceStrays) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	if d.Device == "" {
		if d.Device, err = c.onlyDevice(s); err != nil {
			return err
		}
	}
	query := url.Values{"size": {fmt.Sprint(d.Size)}}
	if d.Page != "" {
		query.Set("page", d.Page)
	}
	var list api.StrayList
	if err := c.get(s.ctx, "/v1/devices/"+url.PathEscape(d.Device)+"/strays?"+query.Encode(), &list); err != nil {
		return err
	}
	if d.JSON {
		return printJSON(s, list)
	}
	return printStrays(s.stdout, list, d.Device, time.Local)
}

// onlyDevice is the device when none is named.
func (c *client) onlyDevice(s *session) (string, error) {
	var list api.DeviceList
	if err := c.get(s.ctx, "/v1/devices", &list); err != nil {
		return "", err
	}
	if len(list.Devices) != 1 {
		return "", input("there are %d devices: name one of those that `errand device list` lists", len(list.Devices))
	}
	return list.Devices[0].ID, nil
}

func printStrays(out io.Writer, list api.StrayList, device string, zone *time.Location) error {
	if len(list.Events) == 0 {
		_, err := fmt.Fprintf(out, "no stray events of %s\n", clean(device))
		return err
	}
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "RECEIVED\tACK\tEVENT\tID\tOPERATION\tREASON")
	for _, e := range list.Events {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ReceivedAt.In(zone).Format(time.DateTime), e.Ack, orDash(e.EventName),
			orDash(e.EventID), orDash(e.OperationID), orDash(e.Reason))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if list.Next != "" {
		fmt.Fprintf(out, "older: errand device strays %s --page %s\n", clean(device), list.Next)
	}
	return nil
}
