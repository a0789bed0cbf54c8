package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
)

func TestParseArgs(t *testing.T) {
	t.Parallel()
	keyword, text := enumspb.INDEXED_VALUE_TYPE_KEYWORD, enumspb.INDEXED_VALUE_TYPE_TEXT
	for name, c := range map[string]struct {
		args  string
		check func(options) bool
	}{
		"defaults are those of the temporal CLI": {"server start-dev", func(o options) bool {
			return o.IP.String() == "127.0.0.1" && o.Port == 7233 && o.UIPort == 8233 && !o.Headless &&
				strings.Join(o.Namespaces, ",") == "default" && o.DBFilename == "" &&
				o.LogLevel == "warn" && o.LogFormat == "text"
		}},
		"what testsuite.StartDevServer passes": {
			"server start-dev --ip 127.0.0.1 --port 7777 --namespace default --dynamic-config-value frontend.enableServerVersionCheck=false --log-level warn --log-format pretty --headless --db-filename x.db --search-attribute A=Keyword",
			func(o options) bool {
				return o.Port == 7777 && o.Headless && o.DBFilename == "x.db" && o.SearchAttributes["A"] == keyword && o.LogFormat == "text"
			},
		},
		"flags repeat": {
			"server start-dev --search-attribute A=Keyword --search-attribute=B=Text --namespace one -n two -n one",
			func(o options) bool {
				return len(o.SearchAttributes) == 2 && o.SearchAttributes["B"] == text &&
					strings.Join(o.Namespaces, ",") == "default,one,two"
			},
		},
		"localhost":                        {"server start-dev --ip localhost", func(o options) bool { return o.IP.String() == "127.0.0.1" }},
		"the UI follows the frontend":      {"server start-dev --port 9000", func(o options) bool { return o.UIPort == 10000 }},
		"a free frontend, a free UI":       {"server start-dev --port 0", func(o options) bool { return o.UIPort == 0 }},
		"no port above the last":           {"server start-dev --port 65000", func(o options) bool { return o.UIPort == 0 }},
		"an asked-for UI port is kept":     {"server start-dev --port 0 --ui-port 8000", func(o options) bool { return o.UIPort == 8000 }},
		"a number stays one":               {"server start-dev --dynamic-config-value limit.maxIDLength=500", func(o options) bool { return tunable(o, "limit.maxIDLength") == 500 }},
		"the last of two values holds":     {"server start-dev --dynamic-config-value limit.maxIDLength=1 --dynamic-config-value limit.maxIDLength=2", func(o options) bool { return tunable(o, "limit.maxIDLength") == 2 }},
		"the caller's tunables beat ours":  {"server start-dev --dynamic-config-value history.timerProcessorMaxPollRPS=7", func(o options) bool { return tunable(o, "history.timerProcessorMaxPollRPS") == 7 }},
		"ours are there without asking":    {"server start-dev", func(o options) bool { return tunable(o, "history.transferProcessorMaxPollRPS") == pollRPS }},
		"a codec endpoint reaches the UI":  {"server start-dev --ui-codec-endpoint http://127.0.0.1:1/codec", func(o options) bool { return o.UICodecEndpoint == "http://127.0.0.1:1/codec" }},
		"an IPv6 loopback address is fine": {"server start-dev --ip ::1", func(o options) bool { return hostPort(o.IP, 1) == "[::1]:1" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, err := parseArgs(strings.Fields(c.args), &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(opts) {
				t.Errorf("%s: got %+v", c.args, opts)
			}
		})
	}
}

// tunable is the value the server would read.
func tunable(o options, key string) any {
	values := dynamicConfigClient(o.DynamicConfig).GetValue(dynamicconfig.MakeKey(key))
	if len(values) != 1 {
		return values
	}
	return values[0].Value
}

func TestParseArgsRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--no-such-flag":                 "unknown flag --no-such-flag",
		"--ip 0.0.0.0":                   "loopback only",
		"--ip nonsense":                  "loopback only",
		"--port 70000":                   "--port 70000 is not a port",
		"--ui-port -1":                   "--ui-port",
		"--log-level x":                  "--log-level",
		"--search-attribute Status":      "is not NAME=TYPE",
		"--search-attribute Status=Word": `no type "Word"`,
		"--search-attribute S=Text --search-attribute S=Int":   "given twice",
		"--dynamic-config-value limit.maxIDLength":             "is not KEY=JSON",
		"--dynamic-config-value limit.noSuchLimit=1":           `unregistered key "limit.nosuchlimit"`,
		`--dynamic-config-value limit.maxIDLength="many"`:      "not int",
		"--dynamic-config-value limit.maxIDLength={":           "is not JSON",
		"--search-attribute S=Text --port 70000 --ip 10.0.0.1": "70000 is not a port",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			_, err := parseArgs(append([]string{"server", "start-dev"}, strings.Fields(args)...), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
}

func TestHelpAndVersionStartNothing(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                        "start-dev",
		"--version":               serverVersion,
		"server start-dev --help": "--search-attribute",
	} {
		var out bytes.Buffer
		if _, err := parseArgs(strings.Fields(args), &out); !errors.Is(err, errHelpShown) {
			t.Errorf("%q: got %v, want errHelpShown", args, err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q printed %q, want %q in it", args, out.String(), want)
		}
	}
}
