package registry

import (
	"context"
	"database/sql"
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

// openSQLite opens the file at path, and makes it if it is absent.
func openSQLite(_ context.Context, path string) (*store, error) {
	if err := writable(path); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, err
	}
	// Readers run beside the one writer; more connections than this only wait for each other.
	db.SetMaxOpenConns(4)
	var opened fs.FileInfo // what was at path once it was prepared
	s := &store{DB: db, bind: asItIs, text: asItIs, classify: classifySQLite, oneWriter: true,
		inPlace: func() error { return sameFile(path, opened) },
		// Every transaction takes the write lock at its start: there is nothing left to wait for.
		lock: func(context.Context, *sql.Tx, string) error { return nil }}
	s.prepare = func(ctx context.Context, _ *Registry) error {
		if err := prepareSQLite(ctx, s); err != nil {
			return err
		}
		if opened, err = os.Stat(path); err != nil {
			return errors.Join(ErrReplaced, err)
		}
		return nil
	}
	return s, nil
}

func asItIs(text string) string { return text }

// sameFile tells that the file is still the one that was opened. One that was removed still takes writes, which nobody will
// ever read; and whoever starts next makes another, so that two processes would go by two registries.
func sameFile(path string, opened fs.FileInfo) error {
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(opened, now) {
		return fmt.Errorf("%s: %w", path, ErrReplaced)
	}
	return nil
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

// prepareSQLite checks the file and migrates it, once no other process is in its way.
func prepareSQLite(ctx context.Context, s *store) error {
	for attempt := 1; ; attempt++ {
		err := checkSQLite(ctx, s)
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

func checkSQLite(ctx context.Context, s *store) error {
	var verdict string
	if err := s.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return classifySQLite(err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return migrate(ctx, s, goose.DialectSQLite3)
}

// classifySQLite names SQLite's verdict on a broken file.
func classifySQLite(err error) error {
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
