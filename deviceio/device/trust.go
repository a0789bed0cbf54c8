package device

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"errand/deviceio/linefile"
	"errand/deviceio/wire"
)

// trustName is the file, in the state directory, with what is trusted of the gateway. Without it the device needs a fingerprint anew.
const trustName = "gateway.trust"

// ErrPlainGateway means that a gateway whose certificate is known was to be reached without TLS: whoever answers there proves nothing.
var ErrPlainGateway = errors.New("the certificate of this gateway is known, so its URL must be wss://")

// trust is the fingerprints of certificates that the gateway may show.
type trust struct {
	// Given is what the device was set up with. The rest followed from it, and holds until it is given another one.
	Given string `json:"given"`
	InUse string `json:"in_use"`
	// Next is announced to take the place of InUse.
	Next string `json:"next,omitempty"`
}

// loadTrust reads what is trusted, or begins with what the device is given.
func loadTrust(o Options) (trust, error) {
	path := filepath.Join(o.StateDir, trustName)
	content, err := os.ReadFile(path)
	var t trust
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return t, fmt.Errorf("read what is trusted of the gateway: %w", err)
	default:
		if err := json.Unmarshal(content, &t); err != nil || t.InUse == "" {
			return t, fmt.Errorf("%s cannot be read (%w): restore it, or remove it and give the gateway's fingerprint anew", path, orUnknown(err))
		}
	}
	if o.Fingerprint != "" && o.Fingerprint != t.Given {
		t = trust{Given: o.Fingerprint, InUse: o.Fingerprint, Next: o.nextFingerprint}
		if err := storeTrust(o.StateDir, t); err != nil {
			return t, err
		}
	}
	if u, err := url.Parse(o.URL); t.InUse != "" && (err != nil || u.Scheme != "wss") {
		return t, fmt.Errorf("device: URL %s: %w (%s)", o.URL, ErrPlainGateway, path)
	}
	return t, nil
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("it names no certificate")
	}
	return err
}

func storeTrust(dir string, t trust) error {
	content, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return linefile.Replace(filepath.Join(dir, trustName), append(content, '\n'))
}

// transport is a new one for each connection, with what is trusted at that moment.
func (c *Client) transport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: c.opts.HandshakeTimeout, ForceAttemptHTTP2: false}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trust.InUse == "" {
		return t
	}
	trusted := []string{c.trust.InUse}
	if c.trust.Next != "" {
		trusted = append(trusted, c.trust.Next)
	}
	t.TLSClientConfig = wire.TrustOnly(trusted...)
	return t
}

// followCertificate drops the certificate before, once the gateway shows the one that was announced.
func (c *Client) followCertificate(shown string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shown == "" || shown != c.trust.Next {
		return
	}
	c.opts.Logger.Info("device: the gateway shows the certificate that it announced", "fingerprint", shown)
	c.setTrust(trust{Given: c.trust.Given, InUse: shown})
}

// takeCertificate takes an announcement. It came over a connection whose certificate is trusted, so what it says is: unless it speaks of
// another certificate than the connection's, since the gateway stands behind something else with TLS of its own. A device that trusts the
// usual authorities has no use for it.
func (c *Client) takeCertificate(s *session, payload json.RawMessage) {
	n, err := wire.ParseCertificateNotice(payload)
	if err != nil {
		c.opts.Logger.Warn("device: an announcement of the gateway's certificate cannot be read", "err", err)
		return
	}
	s.direct = s.direct || n.Fingerprint == s.shown
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trust.InUse == "" || !s.direct {
		return
	}
	c.opts.Logger.Info("device: the gateway's certificate", "in_use", n.Fingerprint, "next", n.NextFingerprint, "switch_at", time.UnixMilli(n.SwitchAtMs))
	c.setTrust(trust{Given: c.trust.Given, InUse: n.Fingerprint, Next: n.NextFingerprint})
}

// setTrust keeps what is trusted. Where it cannot be written, it holds for this process; the caller holds the lock.
func (c *Client) setTrust(t trust) {
	if t == c.trust {
		return
	}
	c.trust = t
	if err := storeTrust(c.opts.StateDir, t); err != nil {
		c.opts.Logger.Error("device: what is trusted of the gateway could not be stored: after a restart the old certificate alone is trusted", "err", err)
	}
}
