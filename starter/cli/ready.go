package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"errand/deviceio/wire"
)

// readyCommand is errand ready: what a container's health check, or a script that waits, can run where there is no curl.
type readyCommand struct {
	URL         string `arg:"" optional:"" help:"Base URL of an API or of a gateway. Default: ERRAND_API."`
	Fingerprint string `help:"SHA-256 of the certificate that it shows, as gateway certificate prints it, for one that no authority vouches for."`
}

// maxReadyAnswer bounds what is read of an answer to /readyz.
const maxReadyAnswer = 4 << 10

// Run asks /readyz, with the token in ERRAND_TOKEN, and says what is missing. Ready is exit 0, anything else 1.
func (r *readyCommand) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	if r.URL != "" {
		c.base = strings.TrimSuffix(r.URL, "/")
	}
	if r.Fingerprint != "" {
		trusted, err := wire.ParseFingerprint(r.Fingerprint)
		if err != nil {
			return input("--fingerprint: %w", err)
		}
		c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: wire.TrustOnly(trusted)}, Timeout: c.http.Timeout}
	}
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, c.base+"/readyz", http.NoBody)
	if err != nil {
		return input("%q is not a URL such as http://127.0.0.1:7420: %w", r.URL, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReadyAnswer))
	if err != nil {
		return fmt.Errorf("not ready: the answer of %s cannot be read: %w", request.URL, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s answered %s: %s", request.URL, response.Status, strings.TrimSpace(string(text)))
	}
	fmt.Fprintf(s.stdout, "%s is ready\n", c.base)
	return nil
}
