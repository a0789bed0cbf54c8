package registry_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"errand/deviceio/registry"
	"errand/internal/pgtest"
	"errand/plan"
)

// clock is a hand-wound clock.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.UnixMilli(1_796_000_000_000)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// openAt opens a registry and closes it with the test.
func openAt(t *testing.T, place string, c *clock) *registry.Registry {
	t.Helper()
	r, err := registry.Open(t.Context(), place, registry.WithClock(c.now))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// newRegistry opens a fresh registry with one approved device "robot" and a live gateway "gw-1".
func newRegistry(t *testing.T) (*registry.Registry, *clock) {
	t.Helper()
	c := newClock()
	r := openAt(t, newPlace(t), c)
	addRobot(t, r)
	return r, c
}

// newPlace is where a fresh registry may be: a file, or a schema where the tests run on PostgreSQL.
func newPlace(t *testing.T) string {
	t.Helper()
	if onPostgres() {
		return (&pgtest.Server{URL: os.Getenv(postgresVariable)}).Fresh(t)
	}
	return filepath.Join(t.TempDir(), "registry.db")
}

// aFile is the path of a fresh file, for tests that are about files.
func aFile(t *testing.T) string {
	t.Helper()
	if onPostgres() {
		t.Skip("about files")
	}
	return filepath.Join(t.TempDir(), "registry.db")
}

// open opens the database itself.
func open(t *testing.T, place string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if registry.IsURL(place) {
		driver = "pgx"
	}
	db, err := sql.Open(driver, place)
	must(t, err)
	return db
}

const ttl = 10 * time.Second

func addRobot(t *testing.T, r *registry.Registry) {
	t.Helper()
	must(t, declare(t.Context(), r, "robot"))
	must(t, r.Approve(t.Context(), "robot"))
	must(t, r.AddGateway(t.Context(), "gw-1", "deviceio@gw-1", ttl))
}

func declare(ctx context.Context, r *registry.Registry, id string) error {
	_, err := r.Declare(ctx, registry.Declaration{ID: id, PublicKey: "key-" + id, DisplayName: "Robot", Commands: []string{"taskmanager.submitTask"},
		Profile: plan.Profile{Status: true, Dedupe: true, Outbox: true}, StoreID: "store-1", RetentionMs: 86_400_000})
	return err
}

func connect(t *testing.T, r *registry.Registry, gateway string) int64 {
	t.Helper()
	epoch, err := r.Connect(t.Context(), registry.Connection{DeviceID: "robot", GatewayID: gateway, BootID: "b1", BootEpoch: 7}, ttl)
	must(t, err)
	return epoch
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func background() context.Context { return context.Background() }
