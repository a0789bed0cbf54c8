package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"errand/catalog"
	"errand/catalog/fresh"
	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/lease"
	"errand/starter/plans"
)

// Plans is what the API needs of plans; *plans.Client satisfies it.
type Plans interface {
	Start(ctx context.Context, s plan.Start) (already bool, err error)
	AwaitPlanned(ctx context.Context, id string) (plan.View, error)
	Find(ctx context.Context, id string) (plans.Line, error)
	View(ctx context.Context, id string) (plan.View, error)
	Watch(ctx context.Context, id string, since int, emit func(plans.Change) error) error
	List(ctx context.Context, f plans.Filter) (lines []plans.Line, next string, err error)
	Cancel(ctx context.Context, id string, r plan.CancelRequest) error
	Answer(ctx context.Context, id string, a plan.Answer) error
	Pause(ctx context.Context, id string, p plan.Pause) error
	Resume(ctx context.Context, id string, r plan.Resume) error
	Amend(ctx context.Context, id string, a plan.Amend) error
	CancelStep(ctx context.Context, id string, s plan.CancelStep) error
	FollowUp(ctx context.Context, id string, f plan.FollowUp) error
	Lease(ctx context.Context, deviceID string) (lease.View, error)
	Forget(ctx context.Context, deviceID string, f lease.Forget) (lease.View, error)
	Ping(ctx context.Context) error
}

// Registry is what the API needs of the registry; *registry.Registry satisfies it.
type Registry interface {
	// Sources tells how fresh a device's sources are, and when it said so; the zero time is never.
	Sources(ctx context.Context, id string, now time.Time) ([]fresh.Source, time.Time, error)
	Devices(ctx context.Context) ([]registry.Device, error)
	Device(ctx context.Context, id string) (registry.Device, error)
	Resolve(ctx context.Context, name string) (registry.Device, error)
	Approve(ctx context.Context, id string) error
	ApproveOnly(ctx context.Context, id string, commands []string) error
	NewSetupCode(ctx context.Context) (code string, expires time.Time, err error)
	Certificates(ctx context.Context) ([]registry.Shown, error)
	Revoke(ctx context.Context, id string) error
	StopDevice(ctx context.Context, s registry.Stop) error
	Release(ctx context.Context, deviceID, by string) (released int64, err error)
	Route(ctx context.Context, deviceID string) (route plan.Route, ok bool, err error)
	StrayPage(ctx context.Context, deviceID string, size int, token string) (page []registry.StrayEvent, next string, err error)
	Homes(ctx context.Context) ([]registry.Home, error)
	Home(ctx context.Context, id string) (registry.Home, error)
	SetHome(ctx context.Context, h registry.Home) error
	MoveDevice(ctx context.Context, deviceID, homeID string) error
	Users(ctx context.Context, homeID string) ([]registry.User, error)
	AddUser(ctx context.Context, u registry.User) (token string, err error)
	RemoveUser(ctx context.Context, id string) error
	users
	Remember(ctx context.Context, key, bodyHash, workflowID string, now time.Time) (registry.Remembered, error)
	Ping(ctx context.Context) error
}

var (
	_ Plans    = (*plans.Client)(nil)
	_ Registry = (*registry.Registry)(nil)
)

// Parts is what the API is made of. All up to Namespace must be given.
type Parts struct {
	Plans    Plans
	Registry Registry
	Catalog  *catalog.Catalog
	Tokens   []Token
	// UI is where Temporal's web UI is, e.g. http://127.0.0.1:8233; answers link to it. Namespace is part of the link.
	UI        string
	Namespace string
	// GatewayURL is where devices reach a gateway, e.g. wss://gateway.example/; invites tell it.
	GatewayURL string
	// Decider is who decides at a plan's boundaries, by the name that the workers know; "" is the reason table alone.
	Decider string
	// RenewAfter is how many events of history a plan may have before it goes on in a new run; 0 is the default.
	RenewAfter int
	// PlanWait is how long an utterance is held for its plan before the answer is 202. Default 3 s.
	PlanWait time.Duration
	// Heartbeat is how often a watcher is sent a comment, so that a proxy does not take silence for death, and how soon one who may
	// not hear any more is cut off. Default 15 s.
	Heartbeat time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Log takes what went wrong inside. Default slog.Default().
	Log *slog.Logger
}

// API serves the HTTP API.
type API struct {
	Parts
	whole   catalog.Slice
	huma    huma.API
	mux     *http.ServeMux
	metrics *metrics
	handler http.Handler
	// watching ends when the watches are to end.
	watching   context.Context
	endWatches context.CancelFunc
}

var _ http.Handler = (*API)(nil)

// New returns the API, or says what of the parts cannot be used.
func New(p Parts) (*API, error) {
	if p.PlanWait == 0 {
		p.PlanWait = 3 * time.Second
	}
	if p.Heartbeat == 0 {
		p.Heartbeat = 15 * time.Second
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Log == nil {
		p.Log = slog.Default()
	}
	a := &API{Parts: p, whole: p.Catalog.Whole(), mux: http.NewServeMux(), metrics: newMetrics()}
	a.watching, a.endWatches = context.WithCancel(context.Background())
	a.huma = humago.New(a.mux, description())
	a.routes()
	guarded, err := newGuard(p.Tokens, p.Registry, p.Log, http.HandlerFunc(a.dispatch))
	if err != nil {
		return nil, err
	}
	a.handler = a.metrics.measure(a.mux, guarded)
	return a, nil
}

// ServeHTTP serves one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// EndWatches ends every watch, so that a server can shut down; a watcher comes back with Last-Event-ID.
func (a *API) EndWatches() { a.endWatches() }

// OpenAPI is the description of the API, OpenAPI 3.1.
func (a *API) OpenAPI() *huma.OpenAPI { return a.huma.OpenAPI() }

func description() huma.Config {
	c := huma.DefaultConfig("Errand", "1")
	c.Info.Description = "Carries out an assistant's plans on real devices, durably."
	c.DocsPath = ""     // its page would load scripts from elsewhere
	c.SchemasPath = ""  // the schemas are in the document
	c.CreateHooks = nil // no $schema links in answers
	c.OpenAPIPath = "/openapi"
	c.Security = []map[string][]string{{"token": {}}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "a token of this API: a configured one (`errand dev` prints one), or a user's (POST /v1/users)"},
	}
	return c
}

func (a *API) routes() {
	a.utteranceRoutes()
	a.planRoutes()
	a.inviteRoutes()
	a.controlRoutes()
	a.steerRoutes()
	a.eventRoutes()
	a.deviceRoutes()
	a.stopRoutes()
	a.leaseRoutes()
	a.strayRoutes()
	a.catalogRoutes()
	a.homeRoutes()
	a.healthRoutes()
}

// dispatch serves the routes; what is no route is a problem document too.
func (a *API) dispatch(w http.ResponseWriter, r *http.Request) {
	handler, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	var miss missed
	handler.ServeHTTP(&miss, r)
	if miss.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", miss.Header().Get("Allow"))
		problem(miss.status, "method_not_allowed", r.Method+" is not possible here; possible: "+miss.Header().Get("Allow")).write(w)
		return
	}
	problem(http.StatusNotFound, "not_found", "there is nothing at "+r.URL.Path+"; /openapi.json lists what there is").write(w)
}

// missed keeps the status and headers of the mux's own answer and drops its text.
type missed struct {
	header http.Header
	status int
}

func (m *missed) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}
func (m *missed) WriteHeader(status int)      { m.status = status }
func (m *missed) Write(b []byte) (int, error) { return len(b), nil }

// fail turns an error of the parts into a problem. What the caller can do nothing about is logged, not told.
func (a *API) fail(ctx context.Context, err error) error {
	var known *Problem
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, plans.ErrNoPlan):
		return problem(http.StatusNotFound, "unknown_plan", err.Error()+"; GET /v1/plans lists the plans")
	case errors.Is(err, plans.ErrOver):
		return problem(http.StatusConflict, "plan_over", err.Error()+"; GET /v1/plans/{id} tells how it ended")
	case errors.Is(err, plans.ErrNotQuarantined):
		return problem(http.StatusConflict, "not_quarantined", err.Error()+": there is nothing to forget; GET /v1/devices/{id} tells how its lease stands")
	case errors.Is(err, plans.ErrRefused):
		return problem(http.StatusConflict, "refused", err.Error())
	case errors.Is(err, plans.ErrNoWorker):
		return problem(http.StatusServiceUnavailable, "no_worker", err.Error())
	case errors.Is(err, plans.ErrNoOutcome):
		return problem(http.StatusConflict, CodeNoOutcome, err.Error())
	case errors.Is(err, plans.ErrPageToken):
		return problem(http.StatusUnprocessableEntity, "bad_parameter", "page: "+err.Error())
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return problem(499, "gone", "the client closed the request")
	}
	a.Log.ErrorContext(ctx, "request failed", "error", err)
	return problem(http.StatusServiceUnavailable, "unavailable",
		"a part of Errand did not answer as it should; the log of `errand serve` says which. Trying again is safe: what was started once is not started twice")
}

// link is where Temporal's UI shows the plan, or "" if no UI is known.
func (a *API) link(planID string) string {
	if a.UI == "" {
		return ""
	}
	return a.UI + "/namespaces/" + a.Namespace + "/workflows/" + planID
}
