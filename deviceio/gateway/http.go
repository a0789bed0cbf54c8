package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"errand/deviceio/media"
)

// Handler serves the devices' WebSocket at / and, with the token as a bearer token, four routes for operators:
//
//	GET /healthz   200 while the process lives
//	GET /readyz    200 while devices may connect and their events can be recorded, else 503 with the reason
//	GET /metrics   Prometheus text
//	GET /media/REF the bytes under a reference that a result carries (package media); 404 once they are gone
//
// and, with a device's own token, the routes of devices without a socket (see routes).
func (g *Gateway) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", g.serveSocket)
	mux.Handle("GET /healthz", g.bearer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })))
	mux.Handle("GET /readyz", g.bearer(http.HandlerFunc(g.ready)))
	mux.Handle("GET /media/{ref}", g.bearer(http.HandlerFunc(g.serveMedia)))
	mux.Handle("GET /metrics", g.bearer(promhttp.HandlerFor(g.counters.all, promhttp.HandlerOpts{})))
	g.routes(mux)
	return g.announcing(mux)
}

// bearer lets only holders of the token through.
func (g *Gateway) bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || !same(token, g.opts.Token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			say(w, http.StatusUnauthorized, "the gateway's token is needed: Authorization: Bearer <token>")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) {
	if g.draining.Load() {
		say(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	if err := g.opts.Registry.Ping(r.Context()); err != nil {
		say(w, http.StatusServiceUnavailable, "registry: "+err.Error())
		return
	}
	if err := g.opts.Healthy(r.Context()); err != nil {
		say(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	say(w, http.StatusOK, "ready")
}

func (g *Gateway) serveMedia(w http.ResponseWriter, r *http.Request) {
	if g.opts.Media == nil {
		say(w, http.StatusNotFound, "this gateway has no media store")
		return
	}
	data, err := g.opts.Media.Read(r.PathValue("ref"))
	switch {
	case errors.Is(err, media.ErrGone):
		say(w, http.StatusNotFound, err.Error())
	case err != nil:
		g.log.Error("bytes of a result cannot be read", "error", err)
		say(w, http.StatusInternalServerError, "the bytes cannot be read now")
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(data) // a caller that hung up needs no answer
	}
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a caller that hung up needs no answer
}

// counters are what /metrics shows.
type counters struct {
	all        *prometheus.Registry
	handshakes *prometheus.CounterVec
	acks       *prometheus.CounterVec
	unrecorded prometheus.Counter
	keyChanges prometheus.Counter
}

func newCounters(t *table) *counters {
	c := &counters{
		all:        prometheus.NewRegistry(),
		handshakes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "errand_gateway_handshakes_total", Help: "Handshakes by how they ended."}, []string{"outcome"}),
		acks:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "errand_gateway_events_total", Help: "Acknowledged events by kind and acknowledgement."}, []string{"event", "ack"}),
		unrecorded: prometheus.NewCounter(prometheus.CounterOpts{Name: "errand_gateway_events_unrecorded_total", Help: "Events answered ok:false, to be sent again."}),
		keyChanges: prometheus.NewCounter(prometheus.CounterOpts{Name: "errand_gateway_key_changes_total", Help: "Known devices turned away because they came with another key."}),
	}
	devices := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "errand_gateway_devices", Help: "Devices connected now."},
		func() float64 { return float64(len(t.held())) })
	c.all.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), c.handshakes, c.acks, c.unrecorded, c.keyChanges, devices)
	return c
}
