package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"
)

const (
	// serverVersion is the Temporal server compiled in.
	serverVersion = headers.ServerVersion

	// defaultNamespace always exists, whatever --namespace adds, as it does with
	// the temporal CLI.
	defaultNamespace = "default"

	// uiPortOffset is how far the UI's port is from the frontend's unless --ui-port
	// says otherwise: 7233 and 8233.
	uiPortOffset = 1000

	maxPort = 65535
)

// errHelpShown reports that the arguments asked for help or the version, which has
// been printed: there is nothing left to do.
var errHelpShown = errors.New("help shown")

// options is what the arguments asked for, checked and completed.
type options struct {
	// IP is the loopback address everything listens on.
	IP netip.Addr
	// Port is the frontend's gRPC port; 0 picks a free one.
	Port int
	// UIPort is the web UI's port; 0 picks a free one. Meaningless when Headless.
	UIPort int
	// Headless leaves the web UI out.
	Headless bool
	// UICodecEndpoint is where the UI has encrypted payloads decoded; empty: nowhere.
	UICodecEndpoint string
	// Namespaces exist when the server is ready, defaultNamespace first.
	Namespaces []string
	// DBFilename is the SQLite file, or a directory to keep one in; empty: a temporary
	// one that is removed at exit.
	DBFilename string
	// SearchAttributes are registered in every one of Namespaces.
	SearchAttributes map[string]enumspb.IndexedValueType
	// DynamicConfig overrides the server's tunables, and ours.
	DynamicConfig dynamicconfig.ConfigValueMap
	// LogLevel is one of logLevels.
	LogLevel string
	// LogFormat is "text" or "json".
	LogFormat string
}

// commandLine is the argv of `temporal server start-dev`, as kong reads it.
type commandLine struct {
	Version kong.VersionFlag `help:"Print the versions and exit."`

	Server struct {
		StartDev startDevFlags `cmd:"" name:"start-dev" help:"Run Temporal and its web UI on loopback, on SQLite."`
	} `cmd:"" help:"Run a server."`
}

type startDevFlags struct {
	IP                 string   `name:"ip" default:"127.0.0.1" help:"Loopback address to listen on."`
	Port               int      `short:"p" default:"7233" help:"Port of the gRPC frontend; 0 picks a free one."`
	UIPort             *int     `name:"ui-port" help:"Port of the web UI; 0 picks a free one. Default: --port plus 1000."`
	Headless           bool     `help:"Leave the web UI out."`
	UICodecEndpoint    string   `name:"ui-codec-endpoint" help:"URL at which the web UI has encrypted payloads decoded."`
	Namespace          []string `short:"n" sep:"none" help:"Namespace to create if absent; repeatable. \"default\" is always there."`
	DBFilename         string   `name:"db-filename" short:"f" help:"SQLite file, or a directory to keep one in. Default: a temporary one, removed at exit."`
	SearchAttribute    []string `sep:"none" placeholder:"NAME=TYPE" help:"Search attribute to register, of type Text, Keyword, Int, Double, Bool, Datetime or KeywordList; repeatable."`
	DynamicConfigValue []string `sep:"none" placeholder:"KEY=JSON" help:"Server tunable, such as limit.maxIDLength=500; repeatable."`
	LogLevel           string   `enum:"debug,info,warn,error,never" default:"warn" help:"debug, info, warn, error or never."`
	LogFormat          string   `enum:"text,pretty,json" default:"text" help:"text (or pretty) or json."`
}

// parseArgs reads the arguments after the program's name. Help goes to out.
func parseArgs(args []string, out io.Writer) (options, error) {
	var line commandLine
	exited := false
	parser, err := kong.New(&line,
		kong.Name("temporal-dev"),
		kong.Description("Temporal, its web UI and SQLite in one process, for development and tests."),
		kong.Vars{"version": "temporal-dev: Temporal server " + serverVersion + ", UI " + uiVersion},
		kong.Writers(out, out),
		kong.Exit(func(int) { exited = true }),
	)
	if err != nil {
		return options{}, fmt.Errorf("read the flag declarations: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	_, err = parser.Parse(args)
	switch {
	case exited:
		return options{}, errHelpShown
	case err != nil:
		return options{}, fmt.Errorf("%w; `temporal-dev server start-dev --help` lists what is understood", err)
	}
	return line.Server.StartDev.options()
}

// options checks the flags against each other and fills in what they leave open.
func (f startDevFlags) options() (options, error) {
	o := options{
		Port:            f.Port,
		Headless:        f.Headless,
		UICodecEndpoint: f.UICodecEndpoint,
		Namespaces:      withDefaultNamespace(f.Namespace),
		DBFilename:      f.DBFilename,
		LogLevel:        f.LogLevel,
		LogFormat:       f.LogFormat,
	}
	if o.LogFormat == "pretty" {
		o.LogFormat = "text"
	}
	var errIP, errUI, errAttributes, errDynamic error
	o.IP, errIP = parseLoopback(f.IP)
	o.UIPort, errUI = uiPort(f.Port, f.UIPort)
	o.SearchAttributes, errAttributes = parseSearchAttributes(f.SearchAttribute)
	o.DynamicConfig, errDynamic = parseDynamicConfig(f.DynamicConfigValue)
	err := errors.Join(errIP, checkPort("--port", f.Port), errUI, errAttributes, errDynamic)
	return o, err
}

// withDefaultNamespace puts defaultNamespace first and drops repetitions.
func withDefaultNamespace(asked []string) []string {
	all := []string{defaultNamespace}
	for _, name := range asked {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// parseLoopback accepts "localhost" and loopback addresses. There is no
// authorization here, so nothing else may be able to reach us.
func parseLoopback(ip string) (netip.Addr, error) {
	if ip == "localhost" {
		ip = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil || !addr.IsLoopback() {
		return netip.Addr{}, fmt.Errorf("--ip %q is not a loopback address: this server has no authorization and listens on loopback only; use 127.0.0.1 or ::1", ip)
	}
	return addr, nil
}

func checkPort(flag string, port int) error {
	if port < 0 || port > maxPort {
		return fmt.Errorf("%s %d is not a port: give 1 to %d, or 0 for a free one", flag, port, maxPort)
	}
	return nil
}

// uiPort is the asked one, or else the frontend's plus uiPortOffset; a free one (0)
// when there is no such number.
func uiPort(frontend int, asked *int) (int, error) {
	if asked != nil {
		return *asked, checkPort("--ui-port", *asked)
	}
	if frontend == 0 || frontend+uiPortOffset > maxPort {
		return 0, nil
	}
	return frontend + uiPortOffset, nil
}

// parseSearchAttributes reads NAME=TYPE pairs.
func parseSearchAttributes(pairs []string) (map[string]enumspb.IndexedValueType, error) {
	attributes := make(map[string]enumspb.IndexedValueType, len(pairs))
	for _, pair := range pairs {
		name, typeName, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--search-attribute %q is not NAME=TYPE, such as ErrandStatus=Keyword", pair)
		}
		kind, err := enumspb.IndexedValueTypeFromString(typeName)
		if err != nil || kind == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return nil, fmt.Errorf("--search-attribute %s: there is no type %q; use Text, Keyword, Int, Double, Bool, Datetime or KeywordList", name, typeName)
		}
		if earlier, ok := attributes[name]; ok && earlier != kind {
			return nil, fmt.Errorf("--search-attribute %s is given twice, as %v and as %v; keep one", name, earlier, kind)
		}
		attributes[name] = kind
	}
	return attributes, nil
}

// hostPort joins the loopback address and a port, with brackets where IPv6 needs them.
func hostPort(ip netip.Addr, port int) string {
	return net.JoinHostPort(ip.String(), fmt.Sprint(port))
}
