// Package cli is the errand command line. Commands that work on files or settings alone (plan validate, catalog, config)
// need nothing running; the others ask the HTTP API at ERRAND_API with ERRAND_TOKEN, or with the token that `errand dev`
// keeps in its state folder.
package cli
