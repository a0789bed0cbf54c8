package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistencesql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// defaultFileName carries the server's version because its SQLite schema has no
	// migrations: another version starts another file.
	defaultFileName = "temporal-" + serverVersion + ".db"

	// retention is how long a closed workflow's history is kept, in namespaces created
	// here. The server's own default is a day, which loses Friday's runs by Monday.
	retention = 7 * 24 * time.Hour
)

// store is the SQLite file behind the server.
type store struct {
	// sql is how Temporal's persistence opens it.
	sql *config.SQL
	// path is the file; in tempDir if that is set.
	path string
	// tempDir is removed with all that is in it by close; empty: the file is the caller's.
	tempDir string
}

// openStore makes sure that filename is a database this server can use, and creates it
// if it is absent. A directory gets a file named defaultFileName.
//
// No filename at all gets a temporary file, not SQLite's database in memory: that one is
// no faster here (the server's own work is the bound), and it is gone when the one
// connection to it is, which has happened in servers left running for a day
// (temporalio/temporal issue 3784). Being thrown away, the file never waits for the disk.
func openStore(ctx context.Context, filename string) (*store, error) {
	s, err := locateStore(filename)
	if err != nil {
		return nil, err
	}
	synchronous := "1" // survives a crash of this process; a power cut may lose the last moments
	if s.tempDir != "" {
		synchronous = "0"
	}
	s.sql = &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: (&url.URL{Path: s.path}).EscapedPath(), // becomes part of a URI
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"journal_mode": "wal",
			"synchronous":  synchronous,
			// One process owns the file. A second server on it would corrupt what both believe.
			"locking_mode": "exclusive",
		},
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.removeTemp())
	}
	return s, nil
}

// locateStore turns --db-filename into a path.
func locateStore(filename string) (*store, error) {
	if filename == "" {
		dir, err := os.MkdirTemp("", "temporal-dev-")
		if err != nil {
			return nil, fmt.Errorf("create a temporary directory for the database: %w; free some space, set TMPDIR or name a file with --db-filename", err)
		}
		return &store{path: filepath.Join(dir, defaultFileName), tempDir: dir}, nil
	}
	named, err := os.Stat(filename)
	if err == nil && named.IsDir() || strings.HasSuffix(filename, string(filepath.Separator)) {
		filename = filepath.Join(filename, defaultFileName)
	}
	parent := filepath.Dir(filename)
	if at, err := os.Stat(parent); err != nil || !at.IsDir() {
		return nil, fmt.Errorf("--db-filename %s: there is no directory %s; create it first", filename, parent)
	}
	return &store{path: filename}, nil
}

// prepare sets up an absent or empty file, and checks one that is there.
func (s *store) prepare(ctx context.Context) error {
	at, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && at.Size() == 0:
		return s.create()
	case err != nil:
		return fmt.Errorf("--db-filename: %w", err)
	}
	return s.check(ctx)
}

// create lays down the schema, then stamps the file with the server's version. The
// stamp comes last, so that a file whose creation was cut short has none.
func (s *store) create() error {
	if err := sqliteschema.SetupSchema(s.sql); err != nil {
		return fmt.Errorf("create the database %s: %w", s.path, err)
	}
	return s.exec(stampStatement())
}

// check refuses a file that is no database, that another process has open, or that
// another version of the server made.
func (s *store) check(ctx context.Context) error {
	uri := url.URL{Scheme: "file", Opaque: s.sql.DatabaseName, RawQuery: "mode=rw"}
	db, err := sql.Open(sqliteplugin.PluginName, uri.String())
	if err != nil {
		return fmt.Errorf("open the database %s: %w", s.path, err)
	}
	defer func() { _ = db.Close() }() // nothing was written

	var stamp int
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&stamp)
	switch {
	case err != nil && strings.Contains(err.Error(), "locked"):
		return fmt.Errorf("the database %s is in use by another process: stop that one, or name another file with --db-filename", s.path)
	case err != nil:
		return fmt.Errorf("cannot read %s as a database: %w; delete it, or name another file with --db-filename", s.path, err)
	case stamp != versionStamp(serverVersion):
		return fmt.Errorf("the database %s was not made by this version of the server (its stamp is %d, that of %s is %d), and there are no migrations: delete it, or name another file with --db-filename", s.path, stamp, serverVersion, versionStamp(serverVersion))
	}
	return nil
}

// createNamespaces registers those that are absent, with their search attributes. It
// writes to the file directly, before the server runs, so that they are there from the
// server's first moment; existing ones are left alone.
func (s *store) createNamespaces(names []string, attributes map[string]enumspb.IndexedValueType) error {
	for _, name := range names {
		namespace, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, attributes)
		if err != nil {
			return fmt.Errorf("namespace %s: %w; give fewer --search-attribute of that type", name, err)
		}
		namespace.Detail.Config.Retention = durationpb.New(retention)
		if err := sqliteschema.CreateNamespaces(s.sql, namespace); err != nil {
			return fmt.Errorf("create namespace %s in %s: %w", name, s.path, err)
		}
	}
	return nil
}

// close folds the write-ahead log into the file, so that the one file is the whole
// database, or removes a temporary one. The server must have stopped.
func (s *store) close() error {
	if s.tempDir != "" {
		return s.removeTemp()
	}
	// An exclusive connection keeps its journal file; leaving that mode takes effect, and
	// removes the file, at the end of the next transaction.
	return s.exec("PRAGMA journal_mode = delete; PRAGMA locking_mode = normal; " + stampStatement())
}

func (s *store) removeTemp() error {
	if s.tempDir == "" {
		return nil
	}
	if err := os.RemoveAll(s.tempDir); err != nil {
		return fmt.Errorf("remove the temporary database: %w", err)
	}
	return nil
}

// exec runs one statement on the connection that Temporal uses: with the file locked
// to one connection, there can be no other.
func (s *store) exec(statement string) error {
	db, err := persistencesql.NewSQLAdminDB(sqlplugin.DbKindUnknown, s.sql,
		resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("open the database %s: %w", s.path, err)
	}
	defer func() { _ = db.Close() }() // gives back a reference, which cannot fail
	if err := db.Exec(statement); err != nil {
		return fmt.Errorf("%s on the database %s: %w", statement, s.path, err)
	}
	return nil
}

// stampStatement marks a file as made by this version of the server.
func stampStatement() string {
	return "PRAGMA user_version = " + strconv.Itoa(versionStamp(serverVersion))
}

// versionStamp packs a version into the integer that SQLite keeps in a file's header:
// 1.32.1 becomes 1032001.
func versionStamp(version string) int {
	stamp := 0
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // a constant of the server, three plain numbers
		stamp = stamp*1000 + n
	}
	return stamp
}
