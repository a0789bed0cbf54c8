package shim

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"errand/deviceio/wire"
	"errand/internal/border"
)

// eventServer takes the vendor's events over HTTP on loopback:
//
//	POST /onTaskEvent   one event, answered 200 with a Receipt once it is on disk
//
// 400 says what is wrong with the event, each fault with its path: it is recorded nowhere, and sent again it would be no better.
// 401 is a wrong token. 503 is not recorded: send it again.
type eventServer struct {
	shim     *Shim
	token    [sha256.Size]byte
	listener net.Listener
}

// listenEvents opens the port for events. It is on loopback only: whoever can write to it can end a task.
func listenEvents(ctx context.Context, s *Shim, address, token string) (*eventServer, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address for events %q: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address for events %q: whoever can write to it can end a task, so it listens on loopback only: use 127.0.0.1", address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("address for events: %w", err)
	}
	return &eventServer{shim: s, token: sha256.Sum256([]byte(token)), listener: listener}, nil
}

// URL is where events are posted to.
func (e *eventServer) URL() string { return "http://" + e.listener.Addr().String() + "/onTaskEvent" }

// serve answers until ctx ends. Then it takes no new events, and those in hand are finished.
func (e *eventServer) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /onTaskEvent", e.take)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(closing) // an event in hand is on disk, or its sender gets no 200
	})
	defer stop()
	if err := server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("events: %w", err)
	}
	return nil
}

// problem is what is wrong with a request.
type problem struct {
	Error  string        `json:"error"`
	Faults border.Faults `json:"faults,omitempty"`
}

func (e *eventServer) take(w http.ResponseWriter, req *http.Request) {
	given := sha256.Sum256([]byte(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")))
	if subtle.ConstantTimeCompare(e.token[:], given[:]) != 1 {
		answer(w, http.StatusUnauthorized, problem{Error: "send the token that the shim and the TaskManager share: Authorization: Bearer <token>"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, wire.MaxTaskEvent+1))
	if err != nil {
		answer(w, http.StatusBadRequest, problem{Error: "the body could not be read: " + err.Error()})
		return
	}
	got, err := e.shim.Event(req.Context(), body)
	refused := (*wire.RefusedEvent)(nil)
	switch {
	case errors.As(err, &refused):
		e.shim.log.Error("shim: an event of the TaskManager cannot be read, and is recorded nowhere", "err", err, "event", clip(body))
		answer(w, http.StatusBadRequest, problem{Error: "this is no task event; it is recorded nowhere", Faults: refused.Faults})
	case err != nil:
		answer(w, http.StatusServiceUnavailable, problem{Error: "not recorded, send it again: " + err.Error()})
	default:
		answer(w, http.StatusOK, got)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the other side hung up: nobody is left to tell
}
