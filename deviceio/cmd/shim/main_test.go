package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func call(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestSettings(t *testing.T) {
	t.Setenv("ERRAND_VENDOR_TOKEN", "short")
	t.Setenv("ERRAND_VENDOR_URL", "over there")
	code, _, errs := call(t.Context())
	if code != 2 || !strings.Contains(errs, "ERRAND_VENDOR_TOKEN: has 5 bytes") || !strings.Contains(errs, "ERRAND_VENDOR_URL") {
		t.Errorf("%d %q", code, errs)
	}
	t.Setenv("ERRAND_VENDOR_TOKEN", "a-secret-of-some-length")
	if code, out, _ := call(t.Context(), "config"); code != 0 || !strings.Contains(out, "ERRAND_SHIM_LISTEN") || strings.Contains(out, "a-secret") {
		t.Errorf("%d %s", code, out)
	}
	if code, _, errs := call(t.Context(), "dance"); code != 2 || !strings.Contains(errs, "dance") {
		t.Errorf("%d %q", code, errs)
	}
}

// Without a gateway the shim keeps trying, and takes events meanwhile; a stop is a clean end.
func TestRunWithoutAGateway(t *testing.T) {
	t.Setenv("ERRAND_SHIM_STATE", t.TempDir())
	t.Setenv("ERRAND_GATEWAY_URL", "ws://127.0.0.1:1/")
	t.Setenv("ERRAND_SHIM_LISTEN", "127.0.0.1:0")
	t.Setenv("ERRAND_VENDOR_TOKEN", "a-secret-of-some-length")
	ctx, stop := context.WithCancel(t.Context())
	out := &watched{want: "shim is not connected to ws://127.0.0.1:1/", found: stop}
	var stderr bytes.Buffer
	if code := run(ctx, nil, out, &stderr); code != 0 {
		t.Fatalf("%d %s", code, stderr.String())
	}
}

// watched calls found once something was printed.
type watched struct {
	want  string
	found func()
}

func (w *watched) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.found()
	}
	return len(p), nil
}
