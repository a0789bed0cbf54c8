package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// certificate is what the gateway shows where it speaks TLS, as it is told to devices.
type certificate struct {
	mu    sync.Mutex
	shown wire.CertificateNotice
}

func (c *certificate) get() wire.CertificateNotice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

func (c *certificate) set(n wire.CertificateNotice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = n
}

// Shows says which TLS certificate the gateway shows from now on, and which it will: invites tell it, connected devices hear of it, and
// so does every device that connects. Call it before the first socket, and whenever it changes (contract.md
// §10). The error is the registry's: then invites tell what was on record before, and devices have heard all the same.
func (g *Gateway) Shows(ctx context.Context, n wire.CertificateNotice) error {
	g.certificate.set(n)
	for deviceID := range g.table.held() {
		if s := g.table.get(deviceID); s != nil {
			s.tellCertificate(n)
		}
	}
	if err := g.opts.Registry.ShowCertificate(ctx, g.id, registry.Shown{Fingerprint: n.Fingerprint, Next: n.NextFingerprint}); err != nil {
		return fmt.Errorf("record the certificate: %w", err)
	}
	return nil
}

// tellCertificate announces it to a device of ours; a plain node has one fingerprint, from its setup, and no ear for it.
func (s *session) tellCertificate(n wire.CertificateNotice) {
	if s.declared == nil {
		return
	}
	select {
	case <-s.open:
		go s.send(wire.EventCertificate, n) // a socket that takes nothing holds up no other
	default: // announce tells it
	}
}

// nextCertificate is the header in which a device without a socket hears of a next certificate, on every answer.
const nextCertificate = "Errand-Next-Certificate"

// announcing adds the announcement to the answers over HTTP, while there is one.
func (g *Gateway) announcing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := g.certificate.get(); n.NextFingerprint != "" {
			w.Header().Set(nextCertificate, fmt.Sprintf("sha256=%s; from=%d", n.NextFingerprint, n.SwitchAtMs))
		}
		next.ServeHTTP(w, r)
	})
}
