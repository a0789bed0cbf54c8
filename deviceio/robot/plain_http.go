package robot

import (
	"bytes"
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
)

// postPatience bounds one post of an event.
const postPatience = 5 * time.Second

// post makes the one try at an event.
func (c *callback) post(ctx context.Context, event json.RawMessage) error {
	if c.url == "" {
		return errors.New("nobody listens")
	}
	ctx, cancel := context.WithTimeout(ctx, postPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(event))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return err
}

// plainServer is the plain TaskManager's HTTP side (docs/shim.md).
type plainServer struct {
	plain    *plain
	token    [sha256.Size]byte
	listener net.Listener
}

func (p *plain) listen(ctx context.Context, cfg PlainConfig) (*plainServer, error) {
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("address of the TaskManager %q: %w", cfg.Listen, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address of the TaskManager %q: it moves the robot, so it listens on loopback only: use 127.0.0.1", cfg.Listen)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("address of the TaskManager: %w", err)
	}
	return &plainServer{plain: p, token: sha256.Sum256([]byte(cfg.Token)), listener: listener}, nil
}

// URL is the TaskManager's base.
func (s *plainServer) URL() string { return "http://" + s.listener.Addr().String() }

func (s *plainServer) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /submitTask", s.route(s.submit))
	mux.HandleFunc("POST /getTaskStatus", s.route(s.status))
	mux.HandleFunc("POST /cancelTask", s.route(s.cancel))
	mux.HandleFunc("POST /getDevicePlanningContext", s.route(func(context.Context, []byte) (int, any, error) {
		return http.StatusOK, s.plain.context(), nil
	}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // what is open then ends with the robot
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("TaskManager: %w", err)
	}
	return nil
}

// route lets in who has the token, and answers. What was asked for is done, whether or not the other side still waits.
func (s *plainServer) route(serve func(context.Context, []byte) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		given := sha256.Sum256([]byte(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(s.token[:], given[:]) != 1 {
			answer(w, http.StatusUnauthorized, failure{"send the shared token: Authorization: Bearer <token>"})
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
		if err != nil {
			answer(w, http.StatusBadRequest, failure{err.Error()})
			return
		}
		status, said, err := serve(context.WithoutCancel(req.Context()), body)
		if err != nil {
			answer(w, http.StatusInternalServerError, failure{err.Error()})
			return
		}
		answer(w, status, said)
	}
}

func (s *plainServer) submit(ctx context.Context, body []byte) (int, any, error) {
	t, err := wire.ParseTask(body)
	if err != nil {
		no := s.plain.robot.unreadable(err)
		no.StoreID = ""
		return http.StatusOK, no, nil
	}
	said, err := s.plain.submit(ctx, t)
	return http.StatusOK, said, err
}

func (s *plainServer) status(ctx context.Context, body []byte) (int, any, error) {
	q, err := wire.ParseStatusQuery(body)
	if err != nil {
		return http.StatusBadRequest, failure{err.Error()}, nil //nolint:nilerr // the fault is the answer
	}
	said, found, err := s.plain.status(ctx, q.TaskID)
	if err == nil && !found {
		return http.StatusNotFound, failure{"there is no task " + q.TaskID}, nil
	}
	return http.StatusOK, said, err
}

func (s *plainServer) cancel(ctx context.Context, body []byte) (int, any, error) {
	q, err := wire.ParseCancelQuery(body)
	if err != nil {
		return http.StatusBadRequest, failure{err.Error()}, nil //nolint:nilerr // the fault is the answer
	}
	said, found, err := s.plain.cancel(ctx, q)
	if err == nil && !found {
		return http.StatusNotFound, failure{"there is no task " + q.TaskID}, nil
	}
	return http.StatusOK, said, err
}
