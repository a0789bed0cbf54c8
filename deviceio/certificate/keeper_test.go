package certificate_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"errand/deviceio/certificate"
	"errand/deviceio/wire"
)

// patience bounds every wait of the tests; none is waited out unless something is broken.
const patience = 20 * time.Second

// A keeper that runs sees what another process rotates, tells of it, and shows the next certificate in its time; a file that breaks
// meanwhile changes nothing.
func TestAKeeperFollowsARotation(t *testing.T) {
	t.Parallel()
	path, at := filepath.Join(t.TempDir(), "tls.json"), newClock()
	k, err := certificate.Keep(certificate.Open(path, certificate.Files{}, day).WithClock(at.now), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first := k.Standing().InUse.Fingerprint
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan certificate.Standing, 10), make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx, func(st certificate.Standing) { told <- st })
	}()
	defer func() { stop(); <-ended }()
	hear := func() certificate.Standing {
		select {
		case st := <-told:
			return st
		case <-time.After(patience):
			t.Fatal("nothing was told")
		}
		return certificate.Standing{}
	}

	rotated, err := certificate.Open(path, certificate.Files{}, day).WithClock(at.now).Rotate(day)
	if err != nil {
		t.Fatal(err)
	}
	next := rotated.Next.Fingerprint
	if st := hear(); st.InUse.Fingerprint != first || st.Next == nil || st.Next.Fingerprint != next {
		t.Errorf("told %+v", st)
	}
	if got := shown(t, k); got != first {
		t.Errorf("announced, it shows %s already", got)
	}
	if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	at.pass(day)
	if st := hear(); st.InUse.Fingerprint != next || st.Next != nil {
		t.Errorf("told %+v", st)
	}
	if got := shown(t, k); got != next {
		t.Errorf("in its time it shows %s, want %s", got, next)
	}
}

// shown is the fingerprint that a client sees, which trusts just that one.
func shown(t *testing.T, k *certificate.Keeper) string {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- tls.Server(ours, k.Config()).HandshakeContext(t.Context()) }()
	client := tls.Client(theirs, wire.TrustOnly(k.Standing().InUse.Fingerprint))
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return wire.Fingerprint(client.ConnectionState().PeerCertificates[0].Raw)
}
