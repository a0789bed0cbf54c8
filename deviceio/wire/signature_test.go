package wire

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodes are connects of real, unmodified OpenClaw nodes with the challenge each answered.
func nodes(t *testing.T) (connects []Connect, challenges []Challenge) {
	file, err := os.Open("testdata/connect/openclaw-nodes.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Challenge json.RawMessage `json:"challenge"`
			Params    json.RawMessage `json:"params"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		c, err := ParseConnect(line.Params)
		require.NoError(t, err)
		ch, err := ParseChallenge(line.Challenge)
		require.NoError(t, err)
		connects, challenges = append(connects, c), append(challenges, ch)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, connects)
	return connects, challenges
}

func TestRealNodesAreWhoTheySay(t *testing.T) {
	connects, challenges := nodes(t)
	for i, c := range connects {
		require.NoError(t, VerifyIdentity(c, challenges[i], challenges[i].TS), "node %d", i)
		require.Nil(t, c.Errand, "an unmodified node declares nothing")
	}
}

func TestSignatureText(t *testing.T) {
	c := Connect{Role: RoleNode, Scopes: []string{"a", "b"}, Auth: Auth{DeviceToken: "dt", BootstrapToken: "bt"},
		Client: Client{ID: "node-host", Mode: "node", Platform: " Linux İ\u00a0", DeviceFamily: "Robot"},
		Device: DeviceIdentity{ID: "ab12", SignedAt: 1796029570062, Nonce: "n-1"}}
	require.Equal(t, "v3|ab12|node-host|node|node|a,b|1796029570062|dt|n-1|linux İ|robot", SignatureText(c, SignatureV3))
	require.Equal(t, "v2|ab12|node-host|node|node|a,b|1796029570062|dt|n-1", SignatureText(c, SignatureV2))
}

// Each case breaks one thing of a good connect and everything that is checked after it, so that the order shows.
func TestVerifyIdentityOrder(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	ch := Challenge{Nonce: "n-1", TS: 1_000_000}
	good := Connect{Role: RoleNode, Client: Client{ID: "x", Mode: "node"}, Auth: Auth{Token: "t"}}
	Sign(key, &good, ch)
	require.NoError(t, VerifyIdentity(good, ch, ch.TS))

	signature := func(c *Connect) { c.Auth.Token = "another" }
	otherNonce := func(c *Connect) { signature(c); c.Device.Nonce = "n-2" }
	noNonce := func(c *Connect) { signature(c); c.Device.Nonce = "" }
	early := func(c *Connect) { noNonce(c); c.Device.SignedAt = ch.TS - MaxSkewMs - 1 }
	late := func(c *Connect) { otherNonce(c); c.Device.SignedAt = ch.TS + MaxSkewMs + 1 }
	otherID := func(c *Connect) { early(c); c.Device.ID = strings.ToUpper(c.Device.ID) }
	noKey := func(c *Connect) { otherID(c); c.Device.PublicKey += "==" }
	for _, test := range []struct {
		code  string
		spoil func(*Connect)
	}{
		{AuthSignatureInvalid, signature},
		{AuthSignatureInvalid, func(c *Connect) { c.Device.Signature = "" }},
		{AuthSignatureInvalid, func(c *Connect) { c.Role = RoleOperator }},
		{AuthSignatureInvalid, func(c *Connect) { c.Device.SignedAt++ }},
		{AuthNonceMismatch, otherNonce},
		{AuthNonceRequired, noNonce},
		{AuthSignatureExpired, early},
		{AuthSignatureExpired, late},
		{AuthSignatureExpired, func(c *Connect) { c.Device.SignedAt = -1 << 63 }},
		{AuthIDMismatch, otherID},
		{AuthPublicKeyInvalid, noKey},
	} {
		c := good
		test.spoil(&c)
		var refused *AuthError
		require.ErrorAs(t, VerifyIdentity(c, ch, ch.TS), &refused)
		require.Equal(t, test.code, refused.Code)
	}
}

func TestVerifyIdentityTakesV2AndTheWholeSkew(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	ch := Challenge{Nonce: "n-1", TS: 1_000_000}
	c := Connect{Role: RoleNode, Client: Client{ID: "x", Mode: "node", Platform: "android"}}
	Sign(key, &c, ch)
	c.Device.Signature = rawURL.EncodeToString(ed25519.Sign(key, []byte(SignatureText(c, SignatureV2))))
	for _, now := range []int64{ch.TS - MaxSkewMs, ch.TS, ch.TS + MaxSkewMs} {
		require.NoError(t, VerifyIdentity(c, ch, now))
	}
	require.False(t, errors.Is(VerifyIdentity(c, ch, ch.TS+MaxSkewMs+1), nil))
}
