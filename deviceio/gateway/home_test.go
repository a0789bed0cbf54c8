package gateway_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
)

// home is a gateway with its registry, and a signaller that the test holds.
type home struct {
	t        *testing.T
	gateway  *gateway.Gateway
	registry *faulty
	signals  *signals
	url      string
	path     string             // of the registry
	stop     context.CancelFunc // ends Run: the gateway drains
	ended    chan error
	// current is the gateway that devices reach now; see restart.
	current atomic.Pointer[gateway.Gateway]
}

// newHome starts a gateway. change may set further options.
func newHome(t *testing.T, change func(*gateway.Options)) *home {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	file, err := registry.Open(t.Context(), path)
	must(t, err)
	h := &home{t: t, path: path, registry: &faulty{Registry: file}, signals: &signals{arrived: make(chan signal, 100)}, ended: make(chan error, 1)}
	opts := gateway.Options{Registry: h.registry, Catalog: testCatalog(), Signaller: h.signals, Token: sharedToken,
		Logger: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&opts)
	}
	h.gateway, err = gateway.New(opts)
	must(t, err)
	h.current.Store(h.gateway)
	server := httptest.NewServer(h.gateway.Handler())
	h.url = server.URL
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() { h.ended <- h.gateway.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := await(t, h.ended, "the gateway to end"); err != nil {
			t.Errorf("Run: %v", err)
		}
		h.ended <- nil
		server.Close()
		must(t, file.Close())
	})
	return h
}

// serve serves a further gateway, and returns where.
func (h *home) serve(g *gateway.Gateway) string {
	server := httptest.NewServer(g.Handler())
	h.t.Cleanup(server.Close)
	return server.URL
}

// exec changes the registry behind its back.
func (h *home) exec(statement string, args ...any) {
	h.t.Helper()
	db, err := sql.Open("sqlite", h.path+"?_pragma=busy_timeout(5000)")
	must(h.t, err)
	_, err = db.ExecContext(h.t.Context(), statement, args...)
	must(h.t, errors.Join(err, db.Close()))
}

// digest is how the registry keeps a token or a code.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// testCatalog lists two capabilities; only move reports its start.
func testCatalog() *catalog.Catalog {
	text := catalog.SlotSchema{Type: "string"}
	return &catalog.Catalog{
		Capabilities: []catalog.Capability{
			{ID: "move_to_room", TaskMethod: "setMoveTo", Enabled: true, ReportStarted: true, ResultContract: catalog.ResultContract{
				BindableResultFields: []catalog.ResultField{{Name: "area_id", Schema: text}, {Name: "current_room_name", Schema: text}}}},
			{ID: "purify", TaskMethod: "setStationaryPurify", Enabled: true},
		},
		Reasons: []catalog.Reason{{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}, {Code: "LOW_BATTERY"}},
	}
}
