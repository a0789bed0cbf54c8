package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"errand/llm"
)

// metrics counts what this worker asked of the model. On the normal path that is nothing.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	log      *slog.Logger
}

func newMetrics(log *slog.Logger) *metrics {
	m := &metrics{log: log, registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errand_llm_calls_total", Help: "Calls of the language model, by purpose (plan, decide) and end (answer, or why there was none)."},
			[]string{"purpose", "end"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errand_llm_tokens_total", Help: "Tokens that the calls cost, as the model's server counts them, by purpose."}, []string{"purpose"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "errand_llm_call_seconds", Help: "Seconds from a call to the end of its answer, by purpose.",
			Buckets: []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32}}, []string{"purpose"}),
	}
	m.registry.MustRegister(m.calls, m.tokens, m.seconds)
	m.calls.WithLabelValues("plan", "answer").Add(0) // so that none is told as 0, and not as nothing
	m.calls.WithLabelValues("decide", "answer").Add(0)
	return m
}

// called records one call: it is what llm.Observe tells.
func (m *metrics) called(_ context.Context, c llm.Call) {
	end := string(c.Kind)
	if end == "" {
		end = "answer"
	}
	m.calls.WithLabelValues(c.Purpose, end).Inc()
	m.tokens.WithLabelValues(c.Purpose).Add(float64(c.Usage.Total))
	m.seconds.WithLabelValues(c.Purpose).Observe(c.Elapsed.Seconds())
	m.log.Info("model call", "plan", c.PlanID, "purpose", c.Purpose, "end", end, "model", c.Model, "version", c.ModelVersion,
		"prompt_tokens", c.Usage.Prompt, "output_tokens", c.Usage.Output, "total_tokens", c.Usage.Total, "latency", c.Latency)
}

// serve tells the metrics at GET /metrics until stop is called. With no address it tells nobody.
func (m *metrics) serve(ctx context.Context, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics (ERRAND_METRICS_LISTEN): %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			m.log.Error("the metrics are told no more", "error", err)
		}
	}()
	return func() {
		if err := server.Close(); err != nil {
			m.log.Warn("stop telling the metrics", "error", err)
		}
	}, nil
}
