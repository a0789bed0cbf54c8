package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// MaxSkewMs is how far signedAt may be from the gateway's clock, in milliseconds, in either direction.
const MaxSkewMs = 120_000

// Signature versions: v2 is v3 without platform and device family. A gateway accepts both.
const (
	SignatureV3 = "v3"
	SignatureV2 = "v2"
)

// Codes of an AuthError, sent as error.details.code before the socket closes with 1008.
const (
	AuthPublicKeyInvalid = "DEVICE_AUTH_PUBLIC_KEY_INVALID"
	AuthIDMismatch       = "DEVICE_AUTH_DEVICE_ID_MISMATCH"
	AuthSignatureExpired = "DEVICE_AUTH_SIGNATURE_EXPIRED"
	AuthNonceRequired    = "DEVICE_AUTH_NONCE_REQUIRED"
	AuthNonceMismatch    = "DEVICE_AUTH_NONCE_MISMATCH"
	AuthSignatureInvalid = "DEVICE_AUTH_SIGNATURE_INVALID"
)

// AuthError says why a device is not who it claims to be.
type AuthError struct {
	Code    string // one of the Auth codes
	Message string
}

func (e *AuthError) Error() string { return e.Code + ": " + e.Message }

// rawURL is how keys and signatures travel. Strict, so that one key has one spelling.
var rawURL = base64.RawURLEncoding.Strict()

// DeviceID is the device's id: the lowercase hex SHA-256 of its raw public key.
func DeviceID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// PublicKey is the public half of a key.
func PublicKey(key ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(key[ed25519.SeedSize:]) // a private key is its seed, then its public key (crypto/ed25519)
}

// SignatureText is the text that a device signs (UTF-8), by signature version:
//
//	v3|device.id|client.id|client.mode|role|scopes joined by ,|signedAt|token|nonce|platform|deviceFamily
//
// The last two are trimmed and lowercased (ASCII only); v2 leaves them out.
func SignatureText(c Connect, version string) string {
	parts := []string{version, c.Device.ID, c.Client.ID, c.Client.Mode, c.Role, strings.Join(c.Scopes, ","),
		strconv.FormatInt(c.Device.SignedAt, 10), c.Auth.Value(), c.Device.Nonce}
	if version == SignatureV3 {
		parts = append(parts, plainLower(c.Client.Platform), plainLower(c.Client.DeviceFamily))
	}
	return strings.Join(parts, "|")
}

// Sign fills in c.Device for the challenge of this socket. Everything else of c must be final: it is signed.
func Sign(key ed25519.PrivateKey, c *Connect, ch Challenge) {
	public := PublicKey(key)
	c.Device = DeviceIdentity{ID: DeviceID(public), PublicKey: rawURL.EncodeToString(public), SignedAt: ch.TS, Nonce: ch.Nonce}
	c.Device.Signature = rawURL.EncodeToString(ed25519.Sign(key, []byte(SignatureText(*c, SignatureV3))))
}

// VerifyIdentity checks that the device holds the key of its id and answered this socket's challenge. nowMs is the
// gateway's clock. The order is the reference's: id matches key, skew, nonce present, nonce of this socket, signature.
func VerifyIdentity(c Connect, ch Challenge, nowMs int64) error {
	d := c.Device
	key, err := rawURL.DecodeString(d.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return &AuthError{AuthPublicKeyInvalid, "device.publicKey must be the unpadded base64url of a 32-byte Ed25519 key"}
	}
	if DeviceID(key) != d.ID {
		return &AuthError{AuthIDMismatch, "device.id must be the lowercase hex SHA-256 of the public key's 32 bytes"}
	}
	// Compared as a range: a difference of two int64 may overflow.
	if d.SignedAt < nowMs-MaxSkewMs || d.SignedAt > nowMs+MaxSkewMs {
		return &AuthError{AuthSignatureExpired, fmt.Sprintf(
			"device.signedAt is %d, more than %d s from the gateway's clock: sign the challenge's ts", d.SignedAt, MaxSkewMs/1000)}
	}
	if d.Nonce == "" {
		return &AuthError{AuthNonceRequired, "device.nonce must be the challenge's nonce"}
	}
	if d.Nonce != ch.Nonce {
		return &AuthError{AuthNonceMismatch, "device.nonce is not the one this socket was challenged with"}
	}
	signature, err := rawURL.DecodeString(d.Signature)
	if err != nil || !signed(key, c, signature) {
		return &AuthError{AuthSignatureInvalid, "device.signature does not fit: it covers the text of SignatureText, v3 or v2"}
	}
	return nil
}

func signed(key ed25519.PublicKey, c Connect, signature []byte) bool {
	return ed25519.Verify(key, []byte(SignatureText(c, SignatureV3)), signature) ||
		ed25519.Verify(key, []byte(SignatureText(c, SignatureV2)), signature)
}

// plainLower trims, and lowercases A to Z only: "İ" must not change length on one side and not on the other.
func plainLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimFunc(s, unicode.IsSpace))
}
