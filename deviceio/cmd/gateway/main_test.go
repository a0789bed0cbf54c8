package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/deviceio/certificate"
	"errand/deviceio/registry"
	"errand/internal/border"
	"errand/internal/config"
)

// Whatever keeps the gateway from starting is told in one line that says what, where and what to do.
func TestWhatKeepsTheGatewayFromStarting(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		set  map[string]string
		is   error
		want []string
	}{
		"no token":           {map[string]string{"ERRAND_TOKEN": ""}, config.ErrSettings, []string{"ERRAND_TOKEN"}},
		"a short token":      {map[string]string{"ERRAND_TOKEN": "short"}, nil, []string{"at least 16"}},
		"a wrong setting":    {map[string]string{"ERRAND_AUTO_APPROVE": "perhaps"}, config.ErrSettings, []string{"ERRAND_AUTO_APPROVE", "perhaps"}},
		"no catalog":         {map[string]string{"ERRAND_CATALOG": filepath.Join(dir, "none.yaml")}, os.ErrNotExist, []string{"ERRAND_CATALOG", "none.yaml"}},
		"a broken catalog":   {map[string]string{"ERRAND_CATALOG": write("broken.yaml", "capabilities: 7\n")}, nil, []string{"broken.yaml"}},
		"a broken registry":  {map[string]string{"ERRAND_REGISTRY": write("text.db", strings.Repeat("no registry ", 200))}, registry.ErrCorrupt, []string{"text.db"}},
		"no registry folder": {map[string]string{"ERRAND_REGISTRY": filepath.Join(write("file", ""), "r.db")}, nil, []string{"ERRAND_REGISTRY"}},
		"no such TLS":        {map[string]string{"ERRAND_GATEWAY_TLS": "maybe"}, config.ErrSettings, []string{"ERRAND_GATEWAY_TLS", "maybe"}},
		"half a certificate": {map[string]string{"ERRAND_GATEWAY_TLS_CERT": "cert.pem"}, config.ErrSettings, []string{"ERRAND_GATEWAY_TLS_KEY"}},
		"no certificate there": {map[string]string{"ERRAND_GATEWAY_TLS_CERT": filepath.Join(dir, "none.pem"), "ERRAND_GATEWAY_TLS_KEY": filepath.Join(dir, "none.pem")},
			os.ErrNotExist, []string{"ERRAND_GATEWAY_TLS_CERT", "none.pem"}},
		"a broken certificate": {map[string]string{"ERRAND_GATEWAY_TLS": "on", "ERRAND_REGISTRY": filepath.Join(filepath.Dir(write("gateway-tls.json", "{")), "r.db")},
			certificate.ErrBroken, []string{"gateway-tls.json"}},
		"the port is taken": {map[string]string{"ERRAND_GATEWAY_LISTEN": taken(t)}, nil, []string{"ERRAND_GATEWAY_LISTEN", "in use"}},
		"no Temporal":       {nil, config.ErrUnreachable, []string{"TEMPORAL_ADDRESS"}},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, dir)
			for key, value := range c.set {
				t.Setenv(key, value)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			var out bytes.Buffer
			err := run(ctx, &out)
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) {
				t.Fatalf("run = %v, want %v", err, c.is)
			}
			line := oneLine(err)
			for _, want := range c.want {
				if !strings.Contains(line, want) {
					t.Errorf("%q does not name %q", line, want)
				}
			}
			if strings.Contains(line, "\n") || out.Len() > 0 {
				t.Errorf("error %q, standard output %q", line, out.String())
			}
		})
	}
}

func TestOneLineKeepsEveryFault(t *testing.T) {
	t.Parallel()
	faults := border.Faults{{Path: "a", Message: "is missing"}, {Path: "b", Message: "is odd"}}
	if got := oneLine(faults); got != "a: is missing; b: is odd" {
		t.Errorf("oneLine = %q", got)
	}
}

// environment sets everything right but Temporal, which nobody serves.
func environment(t *testing.T, dir string) {
	t.Helper()
	for key, value := range map[string]string{
		"ERRAND_TOKEN": "a-token-of-the-tests", "ERRAND_REGISTRY": filepath.Join(dir, "state", "registry.db"),
		"ERRAND_GATEWAY_LISTEN": "127.0.0.1:0", "ERRAND_CATALOG": "", "ERRAND_AUTO_APPROVE": "false", "ERRAND_LOG_LEVEL": "error",
		"TEMPORAL_ADDRESS": closedPort(t), "TEMPORAL_CONFIG_FILE": os.DevNull,
	} {
		t.Setenv(key, value)
	}
}

func taken(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// TLS is on where others than this machine can connect, and where there is a certificate.
func TestTLSIsOnBeyondTheLoopback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, tls, cert string
		want              bool
	}{
		{"127.0.0.1:7420", "auto", "", false}, {"localhost:7420", "auto", "", false}, {"[::1]:7420", "auto", "", false},
		{"0.0.0.0:7420", "auto", "", true}, {":7420", "auto", "", true}, {"192.0.2.7:7420", "auto", "", true}, {"gateway:7420", "auto", "", true},
		{"127.0.0.1:7420", "auto", "cert.pem", true}, {"127.0.0.1:7420", "on", "", true}, {"0.0.0.0:7420", "off", "cert.pem", false},
	} {
		s := config.Gateway{GatewayListen: c.listen, GatewayTLS: c.tls, GatewayTLSCert: c.cert}
		if s.UsesTLS() != c.want {
			t.Errorf("%+v: %v", c, s.UsesTLS())
		}
	}
}

func TestAnUnknownArgumentIsRefused(t *testing.T) {
	environment(t, t.TempDir())
	for _, args := range [][]string{{"rotat"}, {"rotate", "soon"}, {"rotate", "-1h"}, {"certificate", "x"}} {
		var out bytes.Buffer
		if err := command(t.Context(), args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%v: %v, %s", args, err, out.String())
		}
	}
}
