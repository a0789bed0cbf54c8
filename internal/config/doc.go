// Package config reads a process's settings from the environment and shows them.
//
// Each process describes its settings as one struct; the tags are the documentation:
//
//	type settings struct {
//		Listen string `split_words:"true" default:"127.0.0.1:7410" desc:"address the HTTP API listens on"`
//		Token  string `split_words:"true" required:"true" secret:"true" desc:"token every request must carry"`
//	}
//
//	var s settings
//	err := config.Load(&s) // ERRAND_LISTEN, ERRAND_TOKEN; every problem at once
//
// Tags: `default`, `required`, `split_words` and `ignored` mean what they mean to
// github.com/kelseyhightower/envconfig; `desc` is the meaning, `unit` the unit, and `secret:"true"` keeps the value
// out of every listing (`secret:"url"`: the password of the URL). Do not use the `envconfig` tag: with it the library would also read the name without the
// prefix, so that an unrelated variable such as TOKEN or PORT could configure us.
//
// The Temporal client has its own convention (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, profiles, TLS, API key), read by
// go.temporal.io/sdk/contrib/envconfig; Dial uses it and says in words when the server cannot be reached.
package config
