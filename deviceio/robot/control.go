package robot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// controlFile is where a running robot leaves the address and token of its control API, for its owner only.
const controlFile = "control.json"

// maxWait bounds a wait of the control API, and maxBody a request to it.
const (
	maxWait = 2 * time.Minute
	maxBody = 64 << 10
)

// access is how to reach a robot's control API.
type access struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// control is the HTTP API by which tests and people at the robot's side act on it, for whom there is no other way:
// press a wall against it, cut its network, answer its question. It is not part of any device; it listens on loopback
// only, and every request carries the token in the state directory (Authorization: Bearer ...).
//
//	GET    /state                                what is now
//	GET    /context                              the planning context
//	GET    /ledger[?at_least=n&wait=30s]         effects, motions, what people did by hand; waits for n effects
//	GET    /task?operation_id=...[&state=COMPLETED&wait=30s]
//	GET    /faults                               POST /faults with a Fault, DELETE /faults ends all
//	GET    /faults/{id}[?hits=1&wait=30s]        waits until it struck
//	POST   /faults/{id}/release
//	POST   /answers {question_id, choice}
//	POST   /observations {kind, ...}             what the robot sees, as contract.md §5 has it
//	POST   /objects {do, kind, id, set}          what a person does to an alarm, a reminder, a light or a door by hand
//	POST   /stop {why}                           presses the emergency stop on it; POST /release lets it go
//
// A wait that ends without what it waited for answers 408. Errors are {"error": "..."}.
type control struct {
	access
	robot    *Robot
	deviceID string
	listener net.Listener
	file     string
}

// listen opens the control API and leaves its address in the state directory.
func (r *Robot) listen(ctx context.Context, cfg Config, deviceID string) (*control, error) {
	host, _, err := net.SplitHostPort(cfg.Control)
	if err != nil {
		return nil, fmt.Errorf("control address %q: %w", cfg.Control, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("control address %q: it can push the robot about, so it listens on loopback only: use 127.0.0.1", cfg.Control)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Control)
	if err != nil {
		return nil, fmt.Errorf("control address: %w", err)
	}
	c := &control{robot: r, deviceID: deviceID, listener: listener, file: filepath.Join(cfg.StateDir, controlFile),
		access: access{URL: "http://" + listener.Addr().String(), Token: rand.Text(), PID: os.Getpid()}}
	text, err := json.Marshal(c.access)
	if err == nil {
		err = os.WriteFile(c.file, text, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control address: %w", err), listener.Close())
	}
	return c, nil
}

// serve answers until ctx ends.
func (c *control) serve(ctx context.Context) error {
	server := &http.Server{Handler: c.guard(c.routes()), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // what is open then ends with the robot
	defer stop()
	if err := server.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("control: %w", err)
	}
	return os.Remove(c.file)
}

// guard lets in who has the token.
func (c *control) guard(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(c.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		given := sha256.Sum256([]byte(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(want[:], given[:]) != 1 {
			answer(w, http.StatusUnauthorized, failure{"send the token of " + controlFile + " in the state directory: Authorization: Bearer <token>"})
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxBody)
		next.ServeHTTP(w, req)
	})
}

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", c.route(c.state))
	mux.HandleFunc("GET /context", c.route(func(*http.Request) (any, error) { return c.robot.Context(), nil }))
	mux.HandleFunc("GET /ledger", c.route(c.ledger))
	mux.HandleFunc("GET /task", c.route(c.task))
	mux.HandleFunc("GET /faults", c.route(func(*http.Request) (any, error) { return c.robot.Faults(), nil }))
	mux.HandleFunc("POST /faults", c.route(c.addFault))
	mux.HandleFunc("DELETE /faults", c.route(func(*http.Request) (any, error) { c.robot.ClearFaults(); return done, nil }))
	mux.HandleFunc("GET /faults/{id}", c.route(c.fault))
	mux.HandleFunc("POST /faults/{id}/release", c.route(func(req *http.Request) (any, error) {
		return done, c.robot.ReleaseFault(req.PathValue("id"))
	}))
	mux.HandleFunc("POST /answers", c.route(c.answer))
	mux.HandleFunc("POST /observations", c.route(c.observe))
	mux.HandleFunc("POST /objects", c.route(c.byHand))
	mux.HandleFunc("POST /stop", c.route(c.pressStop))
	mux.HandleFunc("POST /release", c.route(func(req *http.Request) (any, error) { return done, c.robot.ReleaseStop(req.Context()) }))
	return mux
}

// done answers what has nothing else to say.
var done = map[string]bool{"done": true}

type failure struct {
	Error string `json:"error"`
}

// route answers with what serve returns, or with its error.
func (c *control) route(serve func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := serve(req)
		switch {
		case err == nil:
			answer(w, http.StatusOK, body)
		case errors.Is(err, context.DeadlineExceeded):
			answer(w, http.StatusRequestTimeout, failure{"it did not happen within the wait"})
		case errors.Is(err, ErrBroken):
			answer(w, http.StatusServiceUnavailable, failure{err.Error()})
		default:
			answer(w, http.StatusBadRequest, failure{err.Error()})
		}
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the other side hung up: nobody is left to tell
}

// waiting reads ?wait=30s; without it, the look is now.
func waiting(req *http.Request) (context.Context, context.CancelFunc, error) {
	text := req.URL.Query().Get("wait")
	if text == "" {
		ctx, cancel := context.WithTimeout(req.Context(), 0)
		return ctx, cancel, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > maxWait {
		return nil, nil, fmt.Errorf("wait: %q is not a duration up to %v, such as 30s", text, maxWait)
	}
	ctx, cancel := context.WithTimeout(req.Context(), wait)
	return ctx, cancel, nil
}

// number reads a count from the query.
func number(req *http.Request, name string, fallback int) (int, error) {
	text := req.URL.Query().Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number", name, text)
	}
	return n, nil
}
