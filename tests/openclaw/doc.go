// Package openclaw runs a real, unmodified OpenClaw node against a whole installation: it pairs, waits to be approved, carries out
// commands, is killed in the middle of one, and comes back with the token it keeps.
//
//	make e2e-openclaw
//
// install.sh fetches the node (npm, about 650 MB) into a cache outside the tree; run.sh runs the tests in an empty network namespace,
// so that the node reaches nothing else. Where npm cannot be reached, or no namespace can be made, the target says so and skips. It is
// not part of make test: the tests here skip without ERRAND_TEST_OPENCLAW, which run.sh sets.
package openclaw
