package registry_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"errand/deviceio/registry"
	"errand/internal/pgtest"
)

// postgresVariable, if set, is the URL of a server on which the tests make their registries, instead of files.
const postgresVariable = "REGISTRY_TEST_POSTGRES"

// TestThePackageOnPostgreSQL runs all other tests of this package once more, on a real server.
func TestThePackageOnPostgreSQL(t *testing.T) {
	t.Parallel()
	if onPostgres() {
		t.Skip("this is that run")
	}
	server := pgtest.Start(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), postgresVariable+"="+server.URL)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	endedConnections(t, server.Fresh(t))
	if ran := strings.Count(string(output), "\n--- PASS"); ran < 20 {
		t.Errorf("only %d tests ran on PostgreSQL:\n%s", ran, output)
	}
}

// endedConnections checks that a server which restarts, and ends every connection, is not remembered as gone.
func endedConnections(t *testing.T, place string) {
	t.Helper()
	r := openAt(t, place, newClock())
	addRobot(t, r)
	exec1(t, place, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
	var err error
	for range 20 { // each connection in the pool may fail once
		if err = r.Ping(t.Context()); err == nil {
			break
		}
		if !errors.Is(err, registry.ErrUnreachable) {
			t.Errorf("Ping = %v, want ErrUnreachable", err)
		}
	}
	must(t, err)
	if connect(t, r, "gw-1") == 0 {
		t.Error("no epoch")
	}
}

func TestOpenSaysWhatIsWrongWithTheServer(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{
		"nobody listens":   "postgres://errand:hunter2@127.0.0.1:1/errand",
		"an unusable port": "postgres://errand:hunter2@127.0.0.1:port/errand",
		"in the query":     "postgres://127.0.0.1:1/errand?user=errand&password=hunter2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.Open(t.Context(), place)
			if !errors.Is(err, registry.ErrUnreachable) {
				t.Errorf("Open = %v, want ErrUnreachable", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestANewerSchemaOnPostgreSQL(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	if !registry.IsURL(place) {
		t.Skip("files have a test of their own")
	}
	r, err := registry.Open(t.Context(), place)
	must(t, err)
	must(t, r.Close())
	exec1(t, place, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`)
	if _, err := registry.Open(t.Context(), place); !errors.Is(err, registry.ErrNewerSchema) {
		t.Errorf("Open = %v, want ErrNewerSchema", err)
	}
}

func onPostgres() bool { return os.Getenv(postgresVariable) != "" }
