package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"errand/internal/config"
	"errand/starter/api"
	"errand/starter/dev"
)

// client talks to the HTTP API.
type client struct {
	base  string
	token string
	http  *http.Client
	// fleeting says that Temporal's UI ends with this command, which is said beside every link to it.
	fleeting bool
}

// newClient reads where the API is from the environment, and its token from there or from the state folder.
func newClient() (*client, error) {
	var s config.Client
	if err := config.Load(&s); err != nil {
		return nil, err
	}
	if u, err := url.Parse(s.API); err != nil || u.Host == "" {
		return nil, input("ERRAND_API: %q is not a URL such as http://127.0.0.1:7410", s.API)
	}
	if s.Token == "" {
		file := filepath.Join(s.State, dev.TokenFile)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, input("there is no token: set ERRAND_TOKEN, or start `errand dev`, which keeps one in %s", file)
		}
		s.Token = strings.TrimSpace(string(text))
	}
	return clientFor(s.API, s.Token), nil
}

func clientFor(base, token string) *client {
	return &client{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{}}
}

// get and post ask the API and decode its answer into out. An answer that is a problem comes back as *api.Problem.
func (c *client) get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, nil, out)
}

func (c *client) post(ctx context.Context, path string, body []byte, out any) error {
	return c.do(ctx, http.MethodPost, path, body, out)
}

func (c *client) do(ctx context.Context, method, path string, body []byte, out any) error {
	response, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("the answer of %s %s cannot be read: %w", method, path, err)
	}
	return nil
}

// send sends a request and returns a good answer, whose body the caller closes.
func (c *client) send(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("the API at %s is not running: start it with `errand dev` or `errand serve`, or set ERRAND_API", c.base)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the API at %s: %w", c.base, err)
	}
	if response.StatusCode < 400 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, c.refusal(response)
}

// refusal reads the problem document of an answer.
func (c *client) refusal(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	p := new(api.Problem)
	if err == nil && json.Unmarshal(text, p) == nil && p.Detail != "" {
		return p
	}
	return fmt.Errorf("%s answered %s, which is not an answer of Errand's API: is ERRAND_API right?", c.base, response.Status)
}
