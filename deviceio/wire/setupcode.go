package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// SetupCode is what a device needs to come in for the first time: where a gateway is, a secret that lets one device in, and how the
// gateway is known. As text it is the unpadded base64url of its JSON.
type SetupCode struct {
	URL            string `json:"url"`
	BootstrapToken string `json:"bootstrapToken"`
	// TLSFingerprint is the SHA-256 of the certificate that the gateway of a wss:// URL shows, in hex; none where the usual authorities
	// vouch for it. An OpenClaw node trusts it, too.
	TLSFingerprint string `json:"tlsFingerprint,omitempty"`
	// NextTLSFingerprint is ours: of the certificate that is announced to take its place, and may have by the time the code is used.
	NextTLSFingerprint string `json:"nextTlsFingerprint,omitempty"`
}

// setupScheme may precede the text of a setup code.
const setupScheme = "oc-pair://"

// ErrSetupCode means that a text is no setup code: it was not copied whole, or is something else.
var ErrSetupCode = errors.New("not a setup code: copy the whole of what `errand device invite` printed")

// Text is the setup code as a device takes it.
func (c SetupCode) Text() (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write the setup code: %w", err)
	}
	return rawURL.EncodeToString(body), nil
}

// ParseSetupCode reads the text of a setup code, with or without oc-pair:// before it.
func ParseSetupCode(text string) (SetupCode, error) {
	var c SetupCode
	body, err := rawURL.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), setupScheme))
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		return SetupCode{}, ErrSetupCode // the cause would show a part of the secret
	}
	if _, ok := GatewayURL(c.URL); !ok || c.BootstrapToken == "" {
		return SetupCode{}, ErrSetupCode
	}
	for _, fingerprint := range []*string{&c.TLSFingerprint, &c.NextTLSFingerprint} {
		if *fingerprint == "" {
			continue
		}
		if *fingerprint, err = ParseFingerprint(*fingerprint); err != nil {
			return SetupCode{}, ErrSetupCode
		}
	}
	return c, nil
}

// GatewayURL writes a WebSocket URL the one way that an OpenClaw node takes in a setup code: without what says nothing, such as a
// path of / or the scheme's own port. It refuses any other spelling without a word about why. ok is false for a text that is no
// such URL, or has a user, a query or a fragment.
func GatewayURL(text string) (plain string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "ws" && u.Scheme != "wss") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	host := strings.ToLower(u.Host)
	if port := map[string]string{"ws": ":80", "wss": ":443"}[u.Scheme]; port == ":"+u.Port() {
		host = strings.TrimSuffix(host, port)
	}
	if u.Path == "/" {
		u.Path = ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path}).String(), true
}
