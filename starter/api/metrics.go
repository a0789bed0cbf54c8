package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts what the API does, in a registry of its own, so that two APIs in one process do not meet.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	starts   *prometheus.CounterVec
	words    *prometheus.CounterVec
	watchers prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errand_http_requests_total", Help: "HTTP requests by route and status."}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "errand_http_request_seconds", Help: "Seconds from request to the end of its answer, by route."}, []string{"route"}),
		starts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errand_plan_starts_total", Help: "Plans asked for, by source (utterance, document) and result (started, repeated)."},
			[]string{"source", "result"}),
		words: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errand_steering_utterances_total", Help: "Utterances that steered plans, or said that there was none, by what they meant."},
			[]string{"verb"}),
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "errand_watchers", Help: "Clients that watch a plan now."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.starts, m.words, m.watchers)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) started(source string, already bool) {
	result := "started"
	if already {
		result = "repeated"
	}
	m.starts.WithLabelValues(source, result).Inc()
}

func (m *metrics) steered(verb string) { m.words.WithLabelValues(verb).Inc() }

// measure counts every request. The route is the mux's pattern: a path would make a label of every plan id.
func (m *metrics) measure(mux *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, route := mux.Handler(r)
		if route == "" {
			route = "none"
		}
		counted := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		began := time.Now()
		next.ServeHTTP(counted, r)
		m.requests.WithLabelValues(route, strconv.Itoa(counted.status)).Inc()
		m.seconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
	})
}

// statusWriter remembers the status. Unwrap lets http.ResponseController flush through it.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
