package redact_test

import (
	"testing"

	"errand/internal/redact"
)

func TestNoPasswordIsShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		".errand/registry.db":                 ".errand/registry.db",
		"안방/registry.db":                      "안방/registry.db",
		"postgres://u:hunter2@db/errand":      "postgres://u:xxxxx@db/errand",
		"postgres://db/x?password=hunter2":    "postgres://db/x?password=xxxxx",
		"postgres://u:hunter2@db:port/errand": "(a URL that cannot be read)",
		"postgresql://u@db/errand":            "postgresql://u@db/errand",
		"":                                    "",
	} {
		if got := redact.URL(text); got != want {
			t.Errorf("URL(%q) = %q, want %q", text, got, want)
		}
	}
}
