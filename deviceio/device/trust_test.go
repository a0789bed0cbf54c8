package device

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

// certified is a certificate of a gateway.
type certified struct {
	tls         tls.Certificate
	fingerprint string
}

func certify(t *testing.T) *certified {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1, 0)} // long over: it is trusted for what it is
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return &certified{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, wire.Fingerprint(der)}
}

// secureGateway is a fake gateway that shows the certificate which the test puts there.
func secureGateway(t *testing.T, first *certified) (*fakeGateway, *atomic.Pointer[certified]) {
	t.Helper()
	g, shows := &fakeGateway{t: t, peers: make(chan *peer, 16)}, new(atomic.Pointer[certified])
	shows.Store(first)
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(g.accept))
	g.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{shows.Load().tls}}, nil
	}}
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	return g, shows
}

// trusting is options with a fingerprint, and the states that the client tells.
func trusting(t *testing.T, g *fakeGateway, fingerprint string) (Options, <-chan State) {
	t.Helper()
	o, states := options(t, g), make(chan State, 100)
	o.Fingerprint = fingerprint
	o.OnState = func(s State) {
		select {
		case states <- s:
		default: // the test has seen enough
		}
	}
	return o, states
}

// stranger waits for the connection that was refused since the gateway showed another certificate.
func stranger(t *testing.T, states <-chan State) *wire.FingerprintError {
	t.Helper()
	for {
		var refused *wire.FingerprintError
		if errors.As(receive(t, states, "the refusal").Err, &refused) {
			return refused
		}
	}
}

// The certificate with the fingerprint that was given is trusted, whoever issued it and whatever its age; a connection to whoever shows
// another one ends before a byte of ours is sent, and the error says so.
func TestOnlyTheGivenCertificateIsTrusted(t *testing.T) {
	ours, other := certify(t), certify(t)
	g, shows := secureGateway(t, ours)
	o, states := trusting(t, g, "sha256:"+ours.fingerprint)
	_, stop := open(t, o)
	p := g.connected()
	require.True(t, receive(t, states, "the connection").Connected)
	shows.Store(other)
	p.drop()
	refused := stranger(t, states)
	require.Equal(t, other.fingerprint, refused.Shown)
	require.Equal(t, []string{ours.fingerprint}, refused.Trusted)
	require.Contains(t, refused.Error(), "errand device invite")
	select {
	case <-g.peers:
		t.Error("the other gateway was told who connects")
	default:
	}
	shows.Store(ours)
	g.connected()
	require.ErrorIs(t, stop(), context.Canceled)
}

// What is announced is trusted from then on, also by the process that comes after and is set up as before, until the switch; then the old
// one is not any more.
func TestAnAnnouncedCertificateIsFollowed(t *testing.T) {
	old, next := certify(t), certify(t)
	g, shows := secureGateway(t, old)
	o, states := trusting(t, g, old.fingerprint)
	_, stop := open(t, o)
	g.connected().event(wire.EventCertificate, wire.CertificateNotice{Fingerprint: old.fingerprint, NextFingerprint: next.fingerprint, SwitchAtMs: 1})
	trusts(t, o, trust{Given: old.fingerprint, InUse: old.fingerprint, Next: next.fingerprint})
	require.ErrorIs(t, stop(), context.Canceled)
	stat, err := os.Stat(filepath.Join(o.StateDir, trustName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), stat.Mode())

	_, stop = open(t, o)
	p := g.connected() // before the switch, as another process
	shows.Store(next)
	p.drop()
	p = g.connected()
	trusts(t, o, trust{Given: old.fingerprint, InUse: next.fingerprint})
	shows.Store(old)
	p.drop()
	require.Equal(t, old.fingerprint, stranger(t, states).Shown)
	require.ErrorIs(t, stop(), context.Canceled)

	o.Fingerprint = "" // the setup code is long gone
	shows.Store(next)
	_, stop = open(t, o)
	g.connected()
	require.ErrorIs(t, stop(), context.Canceled)

	o.Fingerprint = old.fingerprint // given as at first: what followed from it holds
	_, stop = open(t, o)
	g.connected()
	require.ErrorIs(t, stop(), context.Canceled)

	third := certify(t)
	o.Fingerprint = third.fingerprint // a person gives it anew
	shows.Store(third)
	open(t, o)
	g.connected()
	trusts(t, o, trust{Given: third.fingerprint, InUse: third.fingerprint})
}

// A gateway behind something with TLS of its own speaks of a certificate that the device never sees: that one counts for nothing. Nor
// does what cannot be read.
func TestAnAnnouncementOfAnotherCertificateIsIgnored(t *testing.T) {
	shown, inner := certify(t), certify(t)
	g, _ := secureGateway(t, shown)
	o, _ := trusting(t, g, shown.fingerprint)
	open(t, o)
	p := g.connected()
	p.event(wire.EventCertificate, wire.CertificateNotice{Fingerprint: inner.fingerprint})
	p.event(wire.EventCertificate, wire.CertificateNotice{Fingerprint: "nonsense"})
	p.invoke(wire.InvokeRequest{ID: "i-1", NodeID: p.connect.Device.ID, Command: "light.get", ParamsJSON: "{}"})
	p.invokeResult() // it read the two before
	trusts(t, o, trust{Given: shown.fingerprint, InUse: shown.fingerprint})
	p.drop()
	g.connected()
}

// A setup code brings the fingerprints, of the next certificate too.
func TestASetupCodeBringsTheFingerprints(t *testing.T) {
	old, next := certify(t), certify(t)
	g, _ := secureGateway(t, next)
	o, _ := trusting(t, g, "")
	var err error
	o.SetupCode, err = wire.SetupCode{URL: g.url(), BootstrapToken: "b", TLSFingerprint: old.fingerprint, NextTLSFingerprint: next.fingerprint}.Text()
	require.NoError(t, err)
	open(t, o)
	require.Equal(t, "b", g.connected().connect.Auth.BootstrapToken)
	trusts(t, o, trust{Given: old.fingerprint, InUse: next.fingerprint})
}

// Without TLS whoever answers proves nothing, so a device that knows its gateway does not go there; and what it knows is not forgotten
// because the file is damaged.
func TestAKnownGatewayIsNotReachedInTheClear(t *testing.T) {
	g := newGateway(t)
	o, _ := trusting(t, g, certify(t).fingerprint)
	_, err := Open(o)
	require.ErrorIs(t, err, ErrPlainGateway)
	o.Fingerprint = ""
	_, err = Open(o)
	require.ErrorIs(t, err, ErrPlainGateway)
	require.NoError(t, os.WriteFile(filepath.Join(o.StateDir, trustName), []byte("{"), 0o600))
	_, err = Open(o)
	require.ErrorContains(t, err, trustName)
	o.Fingerprint = "short"
	_, err = Open(o)
	require.ErrorIs(t, err, wire.ErrFingerprint)
}

// trusts waits until that is what the device keeps.
func trusts(t *testing.T, o Options, want trust) {
	t.Helper()
	require.Eventually(t, func() bool {
		var kept trust
		content, err := os.ReadFile(filepath.Join(o.StateDir, trustName))
		return err == nil && json.Unmarshal(content, &kept) == nil && kept == want
	}, patience, time.Millisecond, "it is to trust %+v", want)
}
