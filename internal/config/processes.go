package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
)

// Worker is the settings of the worker.
type Worker struct {
	Catalog     string `desc:"catalog file (YAML); default: the built-in one. All processes of an installation must use the same"`
	StickyCache int    `split_words:"true" default:"10000" unit:"plans" desc:"plans kept in memory between two of their tasks; 0 replays every plan from its first event at every task"`
	// MetricsListen serves GET /metrics (Prometheus): how often the model was asked, and what for.
	MetricsListen string `split_words:"true" unit:"host:port" desc:"address on which the worker tells its metrics, without a token: keep it on loopback or behind a wall; default: nowhere"`
	LLM
	Log
}

// Validate checks the cache, the model and the level.
func (w *Worker) Validate() error {
	var cache error
	if w.StickyCache < 0 {
		cache = fmt.Errorf("ERRAND_STICKY_CACHE: %d is below 0", w.StickyCache)
	}
	return errors.Join(cache, w.LLM.Validate(), w.Log.Validate())
}

// API is the settings of the HTTP API (errand serve).
type API struct {
	APIListen string `split_words:"true" default:"127.0.0.1:7410" unit:"host:port" desc:"address the HTTP API listens on"`
	Token     string `required:"true" secret:"true" unit:"at least 16 bytes" desc:"token that every request must carry; make one with: openssl rand -hex 32"`
	// Tokens are of operators too, unless a user of a home goes by the owner (errand user add --owner).
	Tokens   map[string]string `secret:"true" unit:"owner:token,owner:token" desc:"further tokens of the API and whose each is, as is on record of what they ask; ERRAND_TOKEN is the one of the owner api"`
	Registry string            `default:".errand/registry.db" unit:"file or URL" secret:"url" desc:"registry of devices: a SQLite file or a PostgreSQL database (postgres://user@host/database); the gateways must use the same"`
	// GatewayURL is told to devices in invites.
	GatewayURL string `split_words:"true" default:"ws://127.0.0.1:7420/" unit:"URL" desc:"where devices reach a gateway, as an invite tells them"`
	UI         string `default:"http://127.0.0.1:8233" unit:"URL" desc:"where Temporal's web UI is: answers link to it"`
	Catalog    string `desc:"catalog file (YAML); default: the built-in one. All processes of an installation must use the same"`
	Decides
	// RenewAfter keeps histories short; a plan that goes on in a new run loses nothing.
	RenewAfter int `split_words:"true" default:"4000" unit:"events" desc:"length of a plan's history in Temporal after which it goes on in a new run; at least 50"`
	Log
}

// Validate checks the token's length and the log level.
func (a *API) Validate() error {
	var short error
	if a.RenewAfter < 50 {
		short = fmt.Errorf("ERRAND_RENEW_AFTER: %d is below 50", a.RenewAfter)
	}
	return errors.Join(a.Log.Validate(), checkToken(a.Token), a.checkTokens(), short)
}

// MainOwner is whose the token in ERRAND_TOKEN is.
const MainOwner = "api"

// ownerName is how the owner of a token may be called: it is on record as users' ids are.
var ownerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func (a *API) checkTokens() (bad error) {
	owners := map[string]string{a.Token: MainOwner}
	for _, owner := range slices.Sorted(maps.Keys(a.Tokens)) {
		token := a.Tokens[owner]
		switch {
		case owner == MainOwner || !ownerName.MatchString(owner):
			bad = errors.Join(bad, fmt.Errorf("ERRAND_TOKENS: %q cannot be an owner: use a name of its own in a–z, 0–9, - and _", owner))
		case len(token) < leastToken:
			bad = errors.Join(bad, fmt.Errorf("ERRAND_TOKENS: the token of %q has %d bytes, needs at least %d", owner, len(token), leastToken))
		case owners[token] != "":
			bad = errors.Join(bad, fmt.Errorf("ERRAND_TOKENS: %q and %q have the same token: nobody could tell who asks", owners[token], owner))
		default:
			owners[token] = owner
		}
	}
	return bad
}

// Client is the settings of the errand commands that talk to the HTTP API.
type Client struct {
	API   string `default:"http://127.0.0.1:7410" unit:"URL" desc:"where the HTTP API is"`
	Token string `secret:"true" desc:"token of the API; default: the one that errand dev wrote to its state folder"`
	State string `default:".errand" unit:"folder" desc:"where errand dev keeps its state"`
}

// Dev is the settings of errand dev: where the parts listen, and where their programs are.
type Dev struct {
	Bin          string `unit:"folder" desc:"where the programs worker, gateway, robot and temporal-dev are; default: next to errand"`
	TemporalPort int    `split_words:"true" default:"7233" desc:"port of the Temporal server that is started"`
	UIPort       int    `split_words:"true" default:"8233" desc:"port of Temporal's web UI"`
	APIPort      int    `split_words:"true" default:"7410" desc:"port of the HTTP API"`
	GatewayPort  int    `split_words:"true" default:"7420" desc:"port of the devices' gateway"`
}

// Log is the settings every long-running process has.
type Log struct {
	LogLevel string `split_words:"true" default:"warn" desc:"least level that is logged, to standard error: debug, info, warn or error"`
}

// Validate checks the level.
func (l *Log) Validate() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.LogLevel)); err != nil {
		return fmt.Errorf("ERRAND_LOG_LEVEL: %q is not a level: use debug, info, warn or error", l.LogLevel)
	}
	return nil
}

// Logger logs to standard error at the level.
func (l *Log) Logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.LogLevel)); err != nil {
		return nil, errors.Join(ErrSettings, err)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})), nil
}

var (
	_ Validator = (*Worker)(nil)
	_ Validator = (*API)(nil)
)
