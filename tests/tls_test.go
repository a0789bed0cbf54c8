package tests

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// An installation whose gateway speaks TLS with a certificate of its own: an invited robot trusts just that one, does what it is asked,
// and follows a rotation across restarts on both sides. A robot that was told another fingerprint does not come in.
func TestAnInstallationWithTLS(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, "ERRAND_GATEWAY_TLS=on", "ERRAND_AUTO_APPROVE=false")
	s.Gateway = "wss" + strings.TrimPrefix(s.Gateway, "ws")
	invited := inviteTo(t, s)
	first := invited.TLSFingerprint
	if first == "" || first != certificateOf(t, s, "certificate")["in use"] || !strings.Contains(s.GatewayProc.Tail(), "gateway ready: wss://") ||
		!strings.Contains(s.GatewayProc.Tail(), " fingerprint "+first) {
		t.Fatalf("invited to %q\n%s", first, s.GatewayProc.Tail())
	}
	r := s.Robot(t, stack.Option("ERRAND_SETUP_CODE="+invited.SetupCode), "ERRAND_TOKEN=")
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")

	stranger := s.NewRobot(t, "ERRAND_GATEWAY_FINGERPRINT="+stack.Option(strings.Repeat("ab", 32)))
	stranger.StartUnready(t)
	stack.Eventually(t, "the gateway is refused by a robot that was told another fingerprint", func(context.Context) (bool, error) {
		return strings.Contains(stranger.Tail(), "shows another certificate") && strings.Contains(stranger.Tail(), first), nil
	})
	stranger.Stop(t)
	if got := status(t, s, first, "/readyz"); got != http.StatusOK {
		t.Errorf("HTTP over TLS: %d", got)
	}

	s.GatewayProc.Stop(t)
	s.GatewayProc.Start(t)
	if again := certificateOf(t, s, "certificate"); again["in use"] != first || again["next"] != "" {
		t.Errorf("after a restart the certificate is %v, want %s", again, first)
	}
	rotated := certificateOf(t, s, "rotate", "24h")
	if rotated["in use"] != first || rotated["next"] == "" {
		t.Fatalf("rotated: %v", rotated)
	}
	trusts(t, r, `"next":"`+rotated["next"]+`"`)
	if invited := inviteTo(t, s); invited.TLSFingerprint != first || invited.NextTLSFingerprint != rotated["next"] {
		t.Errorf("invited meanwhile to %q and %q", invited.TLSFingerprint, invited.NextTLSFingerprint)
	}
	rotated = certificateOf(t, s, "rotate", "4s") // sooner, and another one: nothing was used yet
	trusts(t, r, `"next":"`+rotated["next"]+`"`)
	r.Kill(t)
	stack.Eventually(t, "the next certificate is in use", func(context.Context) (bool, error) {
		return inviteTo(t, s).TLSFingerprint == rotated["next"], nil
	})
	s.GatewayProc.Kill(t)
	s.GatewayProc.Start(t)
	if got := status(t, s, rotated["next"], "/readyz"); got != http.StatusOK {
		t.Errorf("HTTP over TLS after the switch: %d", got)
	}
	r.Start(t) // with the setup code that it was invited with
	trusts(t, r, `"in_use":"`+rotated["next"]+`"}`)
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
}

// inviteTo makes an invite to the stack's gateway.
func inviteTo(t *testing.T, s *stack.Stack) api.Invite {
	t.Helper()
	setup, err := wire.ParseSetupCode(invite(t, s))
	if err != nil {
		t.Fatal(err)
	}
	code, err := setup.Text()
	if err != nil {
		t.Fatal(err)
	}
	return api.Invite{SetupCode: code, GatewayURL: setup.URL, TLSFingerprint: setup.TLSFingerprint, NextTLSFingerprint: setup.NextTLSFingerprint}
}

// certificateOf runs the gateway's command, and returns the fingerprints that it prints by what they are.
func certificateOf(t *testing.T, s *stack.Stack, args ...string) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for line := range strings.Lines(s.GatewayCommand(t, args...)) {
		what, rest, _ := strings.Cut(line, "  ")
		fingerprint, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		printed[strings.TrimSpace(what)] = fingerprint
	}
	return printed
}

// trusts waits until the robot keeps this of its gateway.
func trusts(t *testing.T, r *stack.Robot, what string) {
	t.Helper()
	stack.Eventually(t, "the robot trusts "+what, func(context.Context) (bool, error) {
		kept, err := os.ReadFile(filepath.Join(r.StateDir(), "gateway.trust"))
		return strings.Contains(string(kept), what), err
	})
}

// status asks the gateway over HTTPS, trusting one certificate.
func status(t *testing.T, s *stack.Stack, fingerprint, path string) int {
	t.Helper()
	trusted := &http.Transport{TLSClientConfig: wire.TrustOnly(fingerprint)}
	defer trusted.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https"+strings.TrimPrefix(strings.TrimSuffix(s.Gateway, "/"), "wss")+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", s.Authorization())
	res, err := (&http.Client{Transport: trusted}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}
