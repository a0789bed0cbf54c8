package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// A certificate that takes the place of another is announced, before it does, to the devices that are connected, to those that come
// meanwhile, and over HTTP; a plain node hears nothing of it. Invites are told by the registry.
func TestANextCertificateIsAnnounced(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	now, next := strings.Repeat("a", 64), strings.Repeat("b", 64)
	announced := func(n *node) wire.CertificateNotice {
		notice, err := wire.ParseCertificateNotice(n.next(wire.EventCertificate).Payload)
		must(t, err)
		return notice
	}
	shows := func(n wire.CertificateNotice) {
		must(t, h.gateway.Shows(t.Context(), n))
		if all, err := h.registry.Certificates(t.Context()); err != nil || len(all) != 1 || all[0] != (registry.Shown{Fingerprint: n.Fingerprint, Next: n.NextFingerprint}) {
			t.Errorf("on record %+v, %v", all, err)
		}
	}
	shows(wire.CertificateNotice{Fingerprint: now})
	early := h.robot(nil)
	if got := announced(early); got != (wire.CertificateNotice{Fingerprint: now}) {
		t.Errorf("with hello %+v", got)
	}
	plain := h.robot(func(c *wire.Connect) { c.Errand = nil })
	want := wire.CertificateNotice{Fingerprint: now, NextFingerprint: next, SwitchAtMs: 1_796_000_000_000}
	shows(want)
	if got := announced(early); got != want {
		t.Errorf("connected: %+v", got)
	}
	late := h.robot(nil)
	if got := announced(late); got != want {
		t.Errorf("connected meanwhile: %+v", got)
	}
	header := func() string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/v1/challenge", http.NoBody)
		must(t, err)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		must(t, res.Body.Close())
		return res.Header.Get("Errand-Next-Certificate")
	}
	if got := header(); got != fmt.Sprintf("sha256=%s; from=%d", next, want.SwitchAtMs) {
		t.Errorf("over HTTP %q", got)
	}
	shows(wire.CertificateNotice{Fingerprint: next})
	if got := announced(late); got != (wire.CertificateNotice{Fingerprint: next}) || header() != "" {
		t.Errorf("after it: %+v, %q", got, header())
	}
	select {
	case f := <-plain.events:
		t.Errorf("a plain node was told %+v", f)
	default:
	}
}

// A registry that does not answer keeps no device from hearing.
func TestACertificateIsAnnouncedWithoutTheRegistry(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.registry.fail(errDown)
	if err := h.gateway.Shows(t.Context(), wire.CertificateNotice{Fingerprint: strings.Repeat("a", 64)}); !errors.Is(err, errDown) {
		t.Errorf("Shows = %v", err)
	}
	n.next(wire.EventCertificate)
	h.registry.fail(nil)
}
