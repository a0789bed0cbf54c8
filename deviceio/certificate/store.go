package certificate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ErrBroken means that the file with the certificates cannot be read. It is never replaced by itself: with another certificate no
// device would trust the gateway any more.
var ErrBroken = errors.New("the gateway's certificates cannot be read: restore the file; without it, every device must be told a new fingerprint")

// ErrOperators means that the certificate comes from the operator's files, so that a new one must come from there, too.
var ErrOperators = errors.New("the certificate is the operator's: replace the files that ERRAND_GATEWAY_TLS_CERT and ERRAND_GATEWAY_TLS_KEY name")

// Files are the PEM files of an operator's own certificate, with its chain, and of its key. None: the gateway makes its own.
type Files struct{ Cert, Key string }

func (f Files) given() bool { return f.Cert != "" }

func (f Files) read() (*Certificate, error) {
	cert, err := os.ReadFile(f.Cert)
	if err != nil {
		return nil, fmt.Errorf("ERRAND_GATEWAY_TLS_CERT: %w", err)
	}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return nil, fmt.Errorf("ERRAND_GATEWAY_TLS_KEY: %w", err)
	}
	c, err := parse(cert, key)
	if err != nil {
		return nil, fmt.Errorf("ERRAND_GATEWAY_TLS_CERT %s with ERRAND_GATEWAY_TLS_KEY %s: %w", f.Cert, f.Key, err)
	}
	return c, nil
}

// Standing is what a gateway shows: now, and what it will.
type Standing struct {
	InUse *Certificate
	Next  *Certificate // nil if none is announced; its From is when it is used
}

// Store is the file with a gateway's certificates. Several processes may use it at once.
type Store struct {
	path  string
	files Files
	lead  time.Duration
	now   func() time.Time
}

// Open names a store; nothing is read before Read. lead is how long a next certificate is announced before it is used.
func Open(path string, files Files, lead time.Duration) *Store {
	return &Store{path: path, files: files, lead: lead, now: time.Now}
}

// WithClock takes the time from now instead of the system's clock.
func (s *Store) WithClock(now func() time.Time) *Store {
	s.now = now
	return s
}

// Read returns what is in use, and what is next. Where there is nothing yet it takes the operator's certificate into use, or makes
// one; and it takes a certificate that the operator put in the files since as the next one. ErrBroken if the file is not whole.
func (s *Store) Read() (Standing, error) {
	var fresh *Certificate
	if s.files.given() {
		var err error
		if fresh, err = s.files.read(); err != nil {
			return Standing{}, err
		}
	}
	kept, err := load(s.path)
	if err == nil && (fresh == nil || kept.newest().Fingerprint == fresh.Fingerprint) {
		return kept.at(s.now()), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Standing{}, err
	}
	return s.change(func(kept schedule) (schedule, error) {
		switch {
		case len(kept) > 0 && (fresh == nil || kept.newest().Fingerprint == fresh.Fingerprint):
			return kept, nil // another process was quicker
		case fresh != nil:
			return kept.add(fresh, s.now(), s.lead), nil
		}
		made, err := makeSelfSigned(s.now())
		if err != nil {
			return nil, err
		}
		return kept.add(made, s.now(), s.lead), nil
	})
}

// Rotate makes a next certificate, which is used in lead from now; one that was next, and not used yet, is dropped for it.
// ErrOperators where certificates are not made here.
func (s *Store) Rotate(lead time.Duration) (Standing, error) {
	if s.files.given() {
		return Standing{}, ErrOperators
	}
	return s.change(func(kept schedule) (schedule, error) {
		made, err := makeSelfSigned(s.now())
		if err != nil {
			return nil, err
		}
		return kept.add(made, s.now(), lead), nil
	})
}

// change changes the file while no other process does.
func (s *Store) change(f func(schedule) (schedule, error)) (Standing, error) {
	unlock, err := lock(s.path + ".lock")
	if err != nil {
		return Standing{}, err
	}
	defer unlock()
	kept, err := load(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Standing{}, err
	}
	next, err := f(kept)
	if err == nil {
		err = save(s.path, next)
	}
	if err != nil {
		return Standing{}, fmt.Errorf("keep the gateway's certificate: %w", err)
	}
	return next.at(s.now()), nil
}
