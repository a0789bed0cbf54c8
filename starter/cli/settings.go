package cli

import "errand/internal/config"

// sections is every process's settings, for errand config.
func sections() []config.Section {
	return []config.Section{
		{Process: "errand serve", About: "the HTTP API", Spec: new(config.API)},
		{Process: "worker", About: "runs the plans", Spec: new(config.Worker)},
		{Process: "errand", About: "commands that ask the API", Spec: new(config.Client)},
		{Process: "errand dev", About: "everything on one machine", Spec: new(config.Dev)},
	}
}
