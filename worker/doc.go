// Command worker runs plans: it polls Temporal's task queue "errand" and carries out the workflows of package workflows
// and the planners of package activities. It needs a Temporal server and nothing else; run as many as the load needs. It alone
// knows the key of a language model, if there is one to ask: model.go says what is around it, docs/models.md what it is told.
//
// On standard output it prints one line, when it polls:
//
//	worker ready: task queue errand, namespace default, catalog 2026.11 (sha256:…), model none
//
// Everything else goes to standard error. SIGINT or SIGTERM stop it: what it is doing gets 10 s to end, and whatever does
// not is taken over by another worker. It exits 0 after a signal, 1 when it could not start or run.
//
// Settings are ERRAND_CATALOG, ERRAND_LLM and those that begin with it, ERRAND_METRICS_LISTEN, ERRAND_LOG_LEVEL and the Temporal
// client's TEMPORAL_*; `errand config` lists them.
package main
