package wire

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EventCertificate is ours: the gateway announces that another TLS certificate will take the place of the one it shows.
const EventCertificate = "gateway.certificate"

// CertificateNotice is the payload of EventCertificate. It is the whole truth about what the gateway shows: a device that trusts
// fingerprints replaces those it had.
type CertificateNotice struct {
	Fingerprint string `json:"fingerprint"`
	// NextFingerprint is what the gateway shows from SwitchAtMs on, Unix ms by its own clock. None: no other is announced.
	NextFingerprint string `json:"nextFingerprint,omitempty"`
	SwitchAtMs      int64  `json:"switchAtMs,omitempty"`
}

// ParseCertificateNotice reads the payload of gateway.certificate.
func ParseCertificateNotice(raw json.RawMessage) (CertificateNotice, error) {
	return parse[CertificateNotice](certificateDoc, raw)
}

// ErrFingerprint means that a text is no fingerprint of a certificate.
var ErrFingerprint = errors.New("not the SHA-256 fingerprint of a certificate: 64 hexadecimal digits, as `errand device invite` prints them")

// Fingerprint is how a certificate is known: the lowercase hex SHA-256 of its DER form.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// ParseFingerprint reads a fingerprint in any of its usual spellings: with sha256: before it, with colons, in capitals.
func ParseFingerprint(text string) (string, error) {
	plain := strings.ToLower(strings.TrimSpace(text))
	plain = strings.ReplaceAll(strings.TrimPrefix(plain, "sha256:"), ":", "")
	if sum, err := hex.DecodeString(plain); err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%q: %w", text, ErrFingerprint)
	}
	return plain, nil
}

// FingerprintError says that a gateway showed another certificate than those that are trusted.
type FingerprintError struct {
	Shown   string
	Trusted []string
}

func (e *FingerprintError) Error() string {
	return fmt.Sprintf("the gateway shows another certificate than the one that is trusted: its SHA-256 is %s, and trusted is %s. It is another gateway, "+
		"or somebody stands in between; if its certificate was replaced meanwhile, give this device the new fingerprint (errand device invite prints it)",
		e.Shown, strings.Join(e.Trusted, " or "))
}

// TrustOnly is a TLS configuration of a client that trusts exactly the certificates with these fingerprints, whoever issued them, for
// whatever name and time. Whoever shows another one gets not a byte more; the error is a *FingerprintError.
func TrustOnly(fingerprints ...string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies, and every connection, resumed ones too
		VerifyConnection: func(c tls.ConnectionState) error {
			shown := "none"
			if len(c.PeerCertificates) > 0 {
				shown = Fingerprint(c.PeerCertificates[0].Raw)
			}
			if !slices.Contains(fingerprints, shown) {
				return &FingerprintError{Shown: shown, Trusted: fingerprints}
			}
			return nil
		}}
}
