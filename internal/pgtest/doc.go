// Package pgtest starts a PostgreSQL server for a test, from the programs that the machine has (Debian: apt install
// postgresql), and ends it with the test. A test that needs one is skipped, with a word, where there are none:
//
//	server := pgtest.Start(t)
//	devices, err := registry.Open(ctx, server.Fresh(t))
//
// The server listens on a socket in a folder of its own, never on the network, and writes nothing to disk durably: it is for
// tests alone.
package pgtest
