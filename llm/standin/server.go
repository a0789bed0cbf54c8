package standin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"errand/llm"
)

// Options say what kind of server it is.
type Options struct {
	// Key is the only key that is right; "" lets every key be right, but none is not.
	Key string
	// Models are the models there are; nil means every name that begins with "gemini", and every name for chat completions.
	Models []string
	// Rule answers when the script is used up; nil means Rules.
	Rule Rule
	// NamedEnums writes enumerations as names even to a client that asked for numbers.
	NamedEnums bool
}

// Question is what a server was asked, in whichever API.
type Question struct {
	Model        string
	Instructions string
	Contents     []string
	// Schema is the shape of the answer; nil asks for plain text.
	Schema *llm.Schema
	// MaxOutputTokens bounds the answer; 0 does not.
	MaxOutputTokens int
	Temperature     *float64
	// Body is the request as it came, Header its header, At when.
	Body   []byte
	Header http.Header
	At     time.Time
}

// Rule answers a question.
type Rule func(Question) Reply

// Server is a model's server. It is safe for many goroutines.
type Server struct {
	options Options
	mux     *http.ServeMux
	// closing ends the replies that hang or wait.
	closing chan struct{}
	close   sync.Once

	mu        sync.Mutex
	script    []Reply
	questions []Question
	arrived   chan struct{} // closed and replaced whenever a question arrives
	http      *http.Server
	ended     chan error // how listening ended
}

var _ http.Handler = (*Server)(nil)

// New returns a server; it is an http.Handler, or Start lets it listen.
func New(o Options) *Server {
	if o.Rule == nil {
		o.Rule = Rules
	}
	s := &Server{options: o, mux: http.NewServeMux(), closing: make(chan struct{}), arrived: make(chan struct{})}
	s.geminiRoutes()
	s.chatRoutes()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Start listens on an address such as "127.0.0.1:0", until Close, and returns the URL that a client takes as its endpoint.
func (s *Server) Start(ctx context.Context, address string) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.http, s.ended = server, make(chan error, 1)
	s.mu.Unlock()
	go func() { s.ended <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// Close stops listening and ends what is being answered. Its error is that of listening, if that had ended by itself.
func (s *Server) Close() error {
	s.close.Do(func() { close(s.closing) })
	s.mu.Lock()
	server := s.http
	s.http = nil
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	err := server.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(ended, err)
	}
	return err
}

// Script adds replies: each answers one question, in order, before any Rule does.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Unused is how many scripted replies nobody has asked for yet.
func (s *Server) Unused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script)
}

// Questions lists what was asked, the first first; a request that was refused for its form or its key is no question.
func (s *Server) Questions() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.questions)
}

// Await waits until n questions have arrived.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		count, arrived := len(s.questions), s.arrived
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reply takes note of a question and returns what to say.
func (s *Server) reply(q Question) Reply {
	q.At = time.Now()
	s.mu.Lock()
	s.questions = append(s.questions, q)
	close(s.arrived)
	s.arrived = make(chan struct{})
	if len(s.script) == 0 {
		s.mu.Unlock()
		return s.options.Rule(q)
	}
	next := s.script[0]
	s.script = s.script[1:]
	s.mu.Unlock()
	return next
}

// hold waits as long as a reply says, and reports whether someone is still there to hear it.
func (s *Server) hold(ctx context.Context, r Reply) bool {
	var due <-chan time.Time
	if !r.hang {
		timer := time.NewTimer(r.delay)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// has reports whether there is such a model.
func (s *Server) has(model, prefix string) bool {
	if s.options.Models == nil {
		return strings.HasPrefix(model, prefix)
	}
	return slices.Contains(s.options.Models, model)
}

// keyIs reports whether a key is right.
func (s *Server) keyIs(key string) bool {
	return key != "" && (s.options.Key == "" || s.options.Key == key)
}
