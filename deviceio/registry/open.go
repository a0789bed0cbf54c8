package registry

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed schema/*.sql
var schema embed.FS

// Registry is one open registry file. It is safe for many goroutines, and other processes may hold the same file.
type Registry struct {
	db   *sql.DB
	now  func() time.Time
	path string
	file fs.FileInfo // what was at path when it was opened
}

// Option changes how a registry is opened.
type Option func(*Registry)

// WithClock takes the time from now instead of the system's clock.
func WithClock(now func() time.Time) Option { return func(r *Registry) { r.now = now } }

// Open opens the registry file at path, makes it if it is absent, and brings its schema up to date.
// The folder must exist. The error is, by errors.Is, ErrUnreadable, ErrCorrupt or ErrNewerSchema where one fits.
func Open(ctx context.Context, path string, opts ...Option) (*Registry, error) {
	if err := writable(path); err != nil {
		return nil, fmt.Errorf("registry %s: %w: %w", path, ErrUnreadable, err)
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, fmt.Errorf("registry %s: %w", path, err)
	}
	// Readers run beside the one writer; more connections than this only wait for each other.
	db.SetMaxOpenConns(4)
	r := &Registry{db: db, now: time.Now, path: path}
	for _, opt := range opts {
		opt(r)
	}
	if err := r.prepare(ctx); err != nil {
		return nil, fmt.Errorf("registry %s: %w", path, errors.Join(err, db.Close()))
	}
	if r.file, err = os.Stat(path); err != nil {
		return nil, fmt.Errorf("registry %s: %w", path, errors.Join(ErrReplaced, err, db.Close()))
	}
	return r, nil
}

// inPlace tells that the file is still the one that was opened. One that was removed still takes writes, which nobody will
// ever read; and whoever starts next makes another, so that two processes would go by two registries.
func (r *Registry) inPlace() error {
	now, err := os.Stat(r.path)
	if err != nil || !os.SameFile(r.file, now) {
		return fmt.Errorf("%s: %w", r.path, ErrReplaced)
	}
	return nil
}

// Close lets go of the file.
func (r *Registry) Close() error { return r.db.Close() }

// Ping tells whether the file is still there and answers.
func (r *Registry) Ping(ctx context.Context) error {
	return errors.Join(r.inPlace(), classify(r.db.PingContext(ctx)))
}

// writable opens the file once for reading and writing, since SQLite's own error names no cause.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dataSource is the SQLite URI. Every transaction takes the write lock at its start, so that two processes that read
// and then write wait for each other instead of failing half way.
func dataSource(path string) string {
	query := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query.Encode()}).String()
}

// openTries bounds how often a busy file is tried, 100 ms apart: SQLite does not wait for the switch of a new file to WAL,
// which several processes that start at once all want to make.
const openTries = 50

// prepare checks the file and migrates it, once no other process is in its way.
func (r *Registry) prepare(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := r.check(ctx)
		if !busy(err) || attempt == openTries {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

func busy(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_BUSY
}

func (r *Registry) check(ctx context.Context) error {
	var verdict string
	if err := r.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return classify(err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return err
	}
	migrations, err := goose.NewProvider(goose.DialectSQLite3, r.db, files)
	if err != nil {
		return err
	}
	return migrate(ctx, migrations)
}

// migrate brings the schema up to date. Two processes may start on a new file at once: the one that comes second finds
// half of the work done, fails, and looks again.
func migrate(ctx context.Context, migrations *goose.Provider) error {
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
			return fmt.Errorf("migrate: %w", classify(err))
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

// classify names SQLite's verdict on a broken file.
func classify(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// within runs f in one transaction, which is on disk when within returns nil.
func (r *Registry) within(ctx context.Context, f func(*sql.Tx) error) error {
	if err := r.inPlace(); err != nil {
		return err
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return classify(err)
	}
	if err := f(tx); err != nil {
		return classify(errors.Join(err, tx.Rollback()))
	}
	return classify(tx.Commit())
}

// ms is a time as the file keeps it, and instant its reverse; 0 is the zero time.
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
