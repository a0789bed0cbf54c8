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

	"errand/internal/config"
)

// TestWhatKeepsAWorkerFromStartingIsSaid holds the errors of a start to naming the cause and what to do.
func TestWhatKeepsAWorkerFromStartingIsSaid(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(broken, []byte("capabilities: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set  map[string]string
		says []string
	}{
		"no such level":  {map[string]string{"ERRAND_LOG_LEVEL": "loud"}, []string{"ERRAND_LOG_LEVEL", "loud", "debug, info, warn or error"}},
		"no catalog":     {map[string]string{"ERRAND_CATALOG": "/nowhere/catalog.yaml"}, []string{"ERRAND_CATALOG", "/nowhere/catalog.yaml"}},
		"broken catalog": {map[string]string{"ERRAND_CATALOG": broken}, []string{"catalog.yaml", "capabilities"}},
		"no profile":     {map[string]string{"TEMPORAL_PROFILE": "missing"}, []string{"Temporal client's settings", "missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
			for variable, value := range c.set {
				t.Setenv(variable, value)
			}
			var out bytes.Buffer
			err := run(t.Context(), &out)
			if err == nil || out.Len() != 0 {
				t.Fatalf("run = %v, printed %q", err, &out)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
		})
	}
}

func TestWithoutTemporalTheWorkerSaysWhereItSoughtIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_ADDRESS", address)
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, &out); !errors.Is(err, config.ErrUnreachable) || !strings.Contains(err.Error(), address) || out.Len() != 0 {
		t.Errorf("run = %v, printed %q", err, &out)
	}
}
