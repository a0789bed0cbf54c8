package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
)

func TestStoreWithoutAFilenameLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := openStore(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(s.path); base != "temporal-"+serverVersion+".db" {
		t.Errorf("the file is named %s, want the server's version in it", base)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if left := names(t, os.Getenv("TMPDIR")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestStoreClosesIntoOneFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a ?#%41 dir") // all of which mean something in a URI
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.createNamespaces([]string{"one", "two"}, map[string]enumspb.IndexedValueType{"A": enumspb.INDEXED_VALUE_TYPE_KEYWORD}); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); len(left) != 1 || left[0] != defaultFileName {
		t.Errorf("after closing there is %v, want %s alone", left, defaultFileName)
	}
}

func TestStoreIsOpenedByOneServerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept.db")
	first, err := openStore(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.createNamespaces([]string{"one"}, nil); err != nil {
		t.Fatal(err)
	}
	_, err = openStore(t.Context(), path)
	wantError(t, err, "in use by another process")
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	stampFile(t, foreign, versionStamp("1.31.9"))

	for path, want := range map[string]string{
		filepath.Join(dir, "absent", "x.db"): "create it first",
		filepath.Join(dir, "absent") + "/":   "create it first",
		garbage:                              "cannot read",
		foreign:                              "there are no migrations",
	} {
		_, err := openStore(t.Context(), path)
		wantError(t, err, want)
	}
}

func TestTooManySearchAttributesAreNamed(t *testing.T) {
	t.Parallel()
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	many := map[string]enumspb.IndexedValueType{}
	for _, name := range []string{"A", "B", "C", "D"} {
		many[name] = enumspb.INDEXED_VALUE_TYPE_TEXT
	}
	wantError(t, s.createNamespaces([]string{"one"}, many), "more than 3 search attributes of type Text")
}

func TestVersionStampsDiffer(t *testing.T) {
	t.Parallel()
	if got := versionStamp("1.32.1"); got != 1032001 {
		t.Errorf("versionStamp(1.32.1) = %d, want 1032001", got)
	}
}

// stampFile makes a SQLite file that says which version made it.
func stampFile(t *testing.T, path string, stamp int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"CREATE TABLE t (x)", fmt.Sprintf("PRAGMA user_version = %d", stamp)} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
