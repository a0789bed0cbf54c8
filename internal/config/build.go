package config

import (
	"runtime/debug"

	"go.temporal.io/sdk/worker"
)

// NameBuild tells Temporal which build this worker is, by the revision it was made from. Where that is not known, or was
// changed, the SDK names it by reading the whole program, at each start.
func NameBuild() {
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := cleanRevision(info.Settings); revision != "" {
			worker.SetBinaryChecksum(revision)
		}
	}
}

// cleanRevision is the revision of a build without changes of its own; "" for any other.
func cleanRevision(settings []debug.BuildSetting) (revision string) {
	clean := false
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			clean = s.Value == "false"
		}
	}
	if !clean {
		return ""
	}
	return revision
}
