package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"errand/catalog"
	"errand/catalog/load"
	"errand/internal/config"
	"errand/starter/api"
)

// deviceList is errand device list.
type deviceList struct{}

// Run prints a line for each device. The name is last: the table cannot know how wide Hangul is.
func (deviceList) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var list api.DeviceList
	if err := c.get(s.ctx, "/v1/devices", &list); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "DEVICE\tSTATE\tONLINE\tCOMMANDS\tROOMS\tLAST SEEN\tNAME")
	for _, d := range list.Devices {
		fmt.Fprintf(tab, "%s\t%s\t%v\t%s\t%d\t%s\t%s\n", clean(d.ID), stateOf(d), d.Online, surface(d), len(d.Rooms), d.LastSeenAt.Local().Format(time.DateTime), orDash(d.Name()))
	}
	return tab.Flush()
}

type catalogLint struct {
	File string `arg:"" help:"Catalog file (YAML)."`
}

// Run prints every fault of the file.
func (c *catalogLint) Run(s *session) error {
	text, err := readFile(c.File)
	if err != nil {
		return err
	}
	known, err := load.Parse(c.File, text)
	if err != nil {
		return input("%w", err)
	}
	fmt.Fprintf(s.stdout, "%s: catalog %s, %d capabilities, %d reasons, %d routines, without faults\n%s\n", c.File,
		known.CatalogVersion, len(known.Capabilities), len(known.Reasons), len(known.Routines), known.Digest)
	return nil
}

type catalogShow struct {
	JSON bool `name:"json" help:"Print the whole catalog as JSON."`
}

// Run prints the catalog in use: ERRAND_CATALOG's, else the built-in one.
func (c *catalogShow) Run(s *session) error {
	known, err := configuredCatalog()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s, known)
	}
	fmt.Fprintf(s.stdout, "catalog %s (%s)\n", known.CatalogVersion, known.Digest)
	tab := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "CAPABILITY\tOPERATIONS\tSLOTS (* required)\tRESULTS\tIMPACT")
	for i := range known.Capabilities {
		fmt.Fprintln(tab, capabilityRow(&known.Capabilities[i]))
	}
	return tab.Flush()
}

func capabilityRow(c *catalog.Capability) string {
	var slots, results []string
	for _, s := range c.Slots {
		name := s.Name
		if s.Required {
			name += "*"
		}
		slots = append(slots, name)
	}
	for _, f := range c.ResultContract.BindableResultFields {
		results = append(results, f.Name)
	}
	return strings.Join([]string{c.ID, strings.Join(c.Operations, " "), orDash(strings.Join(slots, " ")),
		orDash(strings.Join(results, " ")), string(c.Impact)}, "\t")
}

// catalogSettings is the one setting that offline commands have.
type catalogSettings struct {
	Catalog string `desc:"catalog file (YAML); default: the built-in one"`
}

// configuredCatalog is the catalog that ERRAND_CATALOG names, else the built-in one.
func configuredCatalog() (*catalog.Catalog, error) {
	var s catalogSettings
	if err := config.Load(&s); err != nil {
		return nil, err
	}
	return config.Catalog(s.Catalog)
}

func printJSON(s *session, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.stdout, clean(string(text)))
	return err
}
