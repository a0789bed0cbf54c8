package registry

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"errand/internal/redact"
)

//go:embed schema/*.sql
var schema embed.FS

// Registry is one open registry. It is safe for many goroutines, and other processes may use the same one.
type Registry struct {
	db    *store
	now   func() time.Time
	joins joins
}

// Option changes how a registry is opened.
type Option func(*Registry)

// WithClock takes the time from now instead of the system's clock.
func WithClock(now func() time.Time) Option { return func(r *Registry) { r.now = now } }

// Open opens the registry at a place and brings its schema up to date. The place is one of
//
//	.errand/registry.db                     a SQLite file, made if it is absent; its folder must exist
//	postgres://user@host:5432/errand        a PostgreSQL database, which must exist (the password is better in PGPASSWORD)
//
// The error is, by errors.Is, ErrUnreadable, ErrUnreachable, ErrCorrupt or ErrNewerSchema where one fits. It never shows a
// password.
func Open(ctx context.Context, place string, opts ...Option) (*Registry, error) {
	open, name := openSQLite, place
	if IsURL(place) {
		open, name = openPostgres, redact.URL(place)
	}
	db, err := open(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("registry %s: %w", name, err)
	}
	r := &Registry{db: db, now: time.Now}
	for _, opt := range opts {
		opt(r)
	}
	if err := db.prepare(ctx, r); err != nil {
		return nil, fmt.Errorf("registry %s: %w", name, errors.Join(err, db.Close()))
	}
	return r, nil
}

// IsURL tells a PostgreSQL URL from the path of a file.
func IsURL(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// MakeFolder makes the folder of a registry that is a file, for its owner alone; a URL needs none.
func MakeFolder(place string) error {
	if IsURL(place) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return fmt.Errorf("the folder of the registry cannot be made: %w", err)
	}
	return nil
}

// Close lets go of the registry.
func (r *Registry) Close() error { return r.db.Close() }

// Ping tells whether the registry is still there and answers.
func (r *Registry) Ping(ctx context.Context) error {
	return errors.Join(r.db.inPlace(), r.db.classify(r.db.PingContext(ctx)))
}

// migrate brings the schema up to date. Two processes may start on a new registry at once: the one that comes second finds
// half of the work done, fails, and looks again.
func migrate(ctx context.Context, s *store, dialect goose.Dialect, opts ...goose.ProviderOption) error {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return err
	}
	migrations, err := goose.NewProvider(dialect, s.DB, files, opts...)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		current, target, err := migrations.GetVersions(ctx)
		if err == nil && current > target {
			return fmt.Errorf("%w: its schema is %d, this program knows up to %d", ErrNewerSchema, current, target)
		}
		if err == nil && current == target {
			return nil
		}
		if err == nil {
			_, err = migrations.Up(ctx)
		}
		if err != nil && attempt == 5 {
			return fmt.Errorf("migrate: %w", s.classify(err))
		}
		if err != nil {
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
	}
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ms is a time as the registry keeps it, and instant its reverse; 0 is the zero time.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
