package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Health is the answer of /healthz and /readyz.
type Health struct {
	Status string            `json:"status" enum:"ok,unavailable"`
	Parts  map[string]string `json:"parts,omitempty" doc:"each part that is needed: ok, or what it said"`
}

type healthOut struct {
	Status int
	Body   Health
}

// pingTimeout bounds the question to each part.
const pingTimeout = 3 * time.Second

func (a *API) healthRoutes() {
	get(a, huma.Operation{OperationID: "healthz", Path: "/healthz", Summary: "Whether the process lives", Errors: []int{401}},
		func(context.Context, *struct{}) (*healthOut, error) {
			return &healthOut{Status: http.StatusOK, Body: Health{Status: "ok"}}, nil
		})
	get(a, huma.Operation{OperationID: "readyz", Path: "/readyz", Summary: "Whether plans can be started now",
		Responses: map[string]*huma.Response{"503": {Description: "A part does not answer"}}, Errors: []int{401}}, a.ready)
	get(a, huma.Operation{OperationID: "metrics", Path: "/metrics", Summary: "Counters for Prometheus", Errors: []int{401},
		Responses: map[string]*huma.Response{"200": {Description: "Prometheus text format",
			Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}}},
		func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(hctx huma.Context) {
				r, w := humago.Unwrap(hctx)
				a.metrics.handler().ServeHTTP(w, r)
			}}, nil
		})
}

func (a *API) ready(ctx context.Context, _ *struct{}) (*healthOut, error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	out := &healthOut{Status: http.StatusOK, Body: Health{Status: "ok", Parts: map[string]string{}}}
	for name, ping := range map[string]func(context.Context) error{"temporal": a.Plans.Ping, "registry": a.Registry.Ping} {
		out.Body.Parts[name] = "ok"
		if err := ping(ctx); err != nil {
			a.Log.WarnContext(ctx, "not ready", "part", name, "error", err)
			out.Body.Parts[name] = "does not answer"
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "unavailable"
		}
	}
	return out, nil
}
