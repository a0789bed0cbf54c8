// Command temporal-dev is a whole Temporal in one process: the real server, its
// web UI and a SQLite file. It is what Errand runs against on a laptop, in tests
// and in the demo, so that nothing has to be installed or composed first.
//
// It answers to the arguments of `temporal server start-dev`, so a script, or
// the SDK's testsuite.StartDevServer with ExistingPath, can drive either program
// with the same flags:
//
//	temporal-dev server start-dev --port 7233 --namespace default \
//	    --search-attribute ErrandStatus=Keyword \
//	    --db-filename ./data/
//
// On standard output it prints exactly one line, and only when a namespace can
// be described through the frontend and the UI answers:
//
//	Temporal ready: grpc 127.0.0.1:7233, UI http://127.0.0.1:8233
//
// Everything else (warnings, errors) goes to standard error. SIGINT, SIGTERM or
// SIGHUP stop it within a few seconds. It exits 0 after a signal, 1 when it could
// not start or run, 2 when its arguments make no sense.
//
// # What it is not
//
// It listens on loopback only and has no authorization: it is not for production.
// SQLite has no schema migrations between server versions, so a database file
// carries the version that made it, in its default name and in a stamp inside,
// and another version refuses it instead of corrupting it.
//
// # How the files divide the work
//
//   - options.go: what may be asked for, and whether it makes sense
//   - dynamicconfig.go: the server's tunables, ours and the caller's
//   - ports.go: which ports are needed, and who has them if we do not
//   - store.go: the SQLite file, from absent to closed
//   - cluster.go: the server's configuration, composed from the above
//   - ready.go: when the server may be called ready, and search attributes
//   - ui.go: the web UI
//   - logging.go: the one logger
//   - run.go: the order in which these start and stop
//
// # Why a module of its own
//
// The server needs an older go.temporal.io/api than Errand's SDK does, and drags
// in some hundreds of packages. The two never share a process, so they do not
// share a go.mod either; there is no go.work, on purpose.
package main
