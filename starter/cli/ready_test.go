package cli

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestReadyIsTheExitCodeOfReadyz(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   int
		says   string
	}{
		"ready":     {200, `{"status":"ok"}`, 0, " is ready\n"},
		"not ready": {503, `{"status":"unavailable","parts":{"temporal":"does not answer"}}`, 1, `"temporal":"does not answer"`},
		"gateway":   {503, "registry: the file is gone\n", 1, "registry: the file is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeAPI(t, map[string]http.HandlerFunc{"GET /readyz": say(c.status, c.body)})
			address := os.Getenv("ERRAND_API")
			t.Run("the API", func(t *testing.T) {
				if code, stdout, stderr := errand(t, "ready"); code != c.code || !strings.Contains(stdout+stderr, c.says) {
					t.Errorf("exit %d: %s%s", code, stdout, stderr)
				}
			})
			t.Run("another URL", func(t *testing.T) {
				t.Setenv("ERRAND_API", "http://127.0.0.1:1")
				if code, stdout, stderr := errand(t, "ready", address+"/"); code != c.code || !strings.Contains(stdout+stderr, c.says) {
					t.Errorf("exit %d: %s%s", code, stdout, stderr)
				}
			})
		})
	}
	t.Setenv("ERRAND_TOKEN", "the-token")
	if code, _, stderr := errand(t, "ready", "http://127.0.0.1:1"); code != 1 || !strings.Contains(stderr, "not ready") {
		t.Errorf("where nobody listens: exit %d: %s", code, stderr)
	}
}
