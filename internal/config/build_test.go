package config

import (
	"runtime/debug"
	"testing"
)

func TestOnlyABuildWithoutChangesIsNamedByItsRevision(t *testing.T) {
	at := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	for name, c := range map[string]struct {
		settings []debug.BuildSetting
		want     string
	}{
		"clean":   {[]debug.BuildSetting{at, {Key: "vcs.modified", Value: "false"}}, "abc"},
		"changed": {[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, at}, ""},
		"unknown": {nil, ""},
		"untold":  {[]debug.BuildSetting{at}, ""},
	} {
		if got := cleanRevision(c.settings); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
