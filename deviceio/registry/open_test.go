package registry_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"errand/deviceio/registry"
)

// TestMain lets a test start this binary as a second process on the same file: it then connects the device once.
func TestMain(m *testing.M) {
	path := os.Getenv("REGISTRY_TEST_FILE")
	if path == "" {
		os.Exit(m.Run())
	}
	if err := connectOnce(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(aFile(t))
	text := filepath.Join(dir, "text.db")
	must(t, os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600))
	newer := filepath.Join(dir, "newer.db")
	r, err := registry.Open(t.Context(), newer)
	must(t, err)
	must(t, r.Close())
	exec1(t, newer, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
	damaged := filepath.Join(dir, "damaged.db")
	r, err = registry.Open(t.Context(), damaged)
	must(t, err)
	must(t, r.Close())
	damage(t, damaged)

	for name, c := range map[string]struct {
		path string
		want error
	}{
		"not a database":       {text, registry.ErrCorrupt},
		"damaged pages":        {damaged, registry.ErrCorrupt},
		"a newer schema":       {newer, registry.ErrNewerSchema},
		"the folder is absent": {filepath.Join(dir, "absent", "r.db"), registry.ErrUnreadable},
		"the path is a folder": {dir, registry.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := registry.Open(t.Context(), c.path)
			if !errors.Is(err, c.want) {
				t.Fatalf("Open = %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), c.path) {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

func TestOpenTakesAnyPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(aFile(t)), "안방 registry?#%.db")
	r := openAt(t, path, newClock())
	addRobot(t, r)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the file is somewhere else: %v", err)
	}
}

func TestManyProcessesMayOpenANewRegistryAtOnce(t *testing.T) {
	t.Parallel()
	path := newPlace(t)
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		all.Go(func() {
			r, err := registry.Open(t.Context(), path)
			if err == nil {
				err = r.Close()
			}
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Errorf("Open: %v", err)
		}
	}
}

// Two processes that connect the same device never get the same epoch.
func TestProcessesShareOneRegistry(t *testing.T) {
	t.Parallel()
	path := newPlace(t)
	r := openAt(t, path, newClock())
	addRobot(t, r)
	first := connect(t, r, "gw-1")
	var others sync.WaitGroup
	for range 3 {
		others.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "REGISTRY_TEST_FILE="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("second process: %v: %s", err, out)
			}
		})
	}
	others.Wait()
	if last := connect(t, r, "gw-1"); last < first+4 {
		t.Errorf("epoch %d after %d and three connections of other processes", last, first)
	}
}

func connectOnce(path string) (err error) {
	ctx, c := background(), newClock()
	r, err := registry.Open(ctx, path, registry.WithClock(c.now))
	if err != nil {
		return err
	}
	_, err = r.Connect(ctx, registry.Connection{DeviceID: "robot", GatewayID: "gw-1"}, ttl)
	return errors.Join(err, r.Close())
}

func exec1(t *testing.T, place, statement string) {
	t.Helper()
	db := open(t, place)
	_, err := db.ExecContext(t.Context(), statement)
	must(t, errors.Join(err, db.Close()))
}

// damage overwrites the pages after the first one.
func damage(t *testing.T, path string) {
	t.Helper()
	body, err := os.ReadFile(path)
	must(t, err)
	for i := 4096; i < len(body); i++ {
		body[i] = 0xA5
	}
	must(t, os.WriteFile(path, body, 0o600))
}

// A file that was removed takes writes that nobody will ever read, and acknowledges events that are nowhere (law 19): nothing is
// written any more, and whoever asks is told.
func TestLaw19ARemovedFileTakesNothing(t *testing.T) {
	t.Parallel()
	path := aFile(t)
	r := openAt(t, path, newClock())
	addRobot(t, r)
	must(t, r.Ping(t.Context()))
	aside := path + ".aside"
	must(t, os.Rename(path, aside))
	for replaced := range 2 {
		if replaced == 1 {
			must(t, os.WriteFile(path, nil, 0o600))
		}
		_, kept := r.KeepStray(t.Context(), registry.StrayEvent{DeviceID: "robot", EventID: "b1-1", BodyHash: "h", Ack: "late", Body: []byte("{}")})
		for what, err := range map[string]error{"KeepStray": kept, "Ping": r.Ping(t.Context())} {
			if !errors.Is(err, registry.ErrReplaced) {
				t.Errorf("%s = %v, want ErrReplaced", what, err)
			}
		}
	}
	must(t, os.Rename(aside, path))
	must(t, r.Ping(t.Context()))
}
