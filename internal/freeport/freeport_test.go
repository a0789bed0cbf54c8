package freeport

import "testing"

func TestListenGivesEachCallerAPortOfItsOwnBelowOutgoingConnections(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		l, err := Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		port := Of(l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if seen[port] || port < first || port >= first+count {
			t.Fatalf("port %d after %d others", port, len(seen))
		}
		seen[port] = true
	}
}
