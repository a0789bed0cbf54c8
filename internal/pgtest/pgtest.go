package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL server.
type Server struct {
	// URL is of its maintenance database.
	URL string
}

// superuser is who owns everything in it; it needs no password.
const superuser = "errand"

// Start starts a server that ends with the test, and skips the test where PostgreSQL is not installed.
func Start(tb testing.TB) *Server {
	tb.Helper()
	bin := programs()
	if bin == "" {
		tb.Skip("PostgreSQL is not installed here (initdb and postgres are neither on the PATH nor in /usr/lib/postgresql): not tested")
	}
	who := owner(tb)
	dir := folder(tb, who)
	data := filepath.Join(dir, "data")
	output, err := as(who, exec.CommandContext(tb.Context(), filepath.Join(bin, "initdb"), "-D", data, "-U", superuser, "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")).CombinedOutput()
	if err != nil {
		tb.Fatalf("initdb: %v: %s", err, output)
	}
	var log bytes.Buffer
	server := as(who, exec.CommandContext(context.WithoutCancel(tb.Context()), filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "max_connections=300"))
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		tb.Fatalf("postgres: %v", err)
	}
	tb.Cleanup(func() {
		err := server.Process.Signal(syscall.SIGINT) // fast shutdown: connections are closed
		_ = server.Wait()                            // how it ends tells nothing
		if tb.Failed() || err != nil {
			tb.Logf("postgres: %v\n%s", err, log.String())
		}
	})
	s := &Server{URL: fmt.Sprintf("postgres://%s@/postgres?host=%s", superuser, url.QueryEscape(dir))}
	s.await(tb)
	return s
}

// Fresh makes an empty schema in the server's database and returns a URL that works in it: as good as a database, and made in
// no time.
func (s *Server) Fresh(tb testing.TB) string {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), s.URL)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	name := "t_" + strings.ToLower(rand.Text())
	_, err = conn.Exec(tb.Context(), "CREATE SCHEMA "+name)
	if closed := conn.Close(tb.Context()); err != nil || closed != nil {
		tb.Fatalf("create a schema: %v, %v", err, closed)
	}
	return s.URL + "&search_path=" + name
}

// await waits until the server answers.
func (s *Server) await(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL)
		if err == nil {
			if err := conn.Close(ctx); err != nil {
				tb.Fatal(err)
			}
			return
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			tb.Fatalf("PostgreSQL does not answer: %v", err)
		}
	}
}

// programs is the folder of initdb and postgres, of the newest version; "" if there is none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // one that is no number is the oldest
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(found[len(found)-1])
}

// owner is who runs the server: it refuses to run as root. nil is whoever runs the test.
func owner(tb testing.TB) *syscall.Credential {
	tb.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(who.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(who.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	tb.Skip("PostgreSQL does not run as root, and there is no user postgres or nobody here: not tested")
	return nil
}

// folder is one that the owner may use, whose path is short enough for a socket.
func folder(tb testing.TB, who *syscall.Credential) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func as(who *syscall.Credential, cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = "/"
	if who != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	}
	return cmd
}
