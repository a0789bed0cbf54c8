package dev

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Where in the state folder the tokens of the API and of the devices are.
const (
	TokenFile       = "token"
	DeviceTokenFile = "device-token"
)

// state is the state folder while it is in use.
type state struct {
	dir  string
	lock *os.File
}

// openState makes the folder if it is absent, for its owner alone, and takes its lock: two Errands on one registry and
// one database would fight over the same robot.
func openState(dir string) (*state, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		return nil, fmt.Errorf("the state folder cannot be made: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the state folder cannot be used: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another `errand dev` is using %s: stop it, or use --state-dir with another folder", dir), lock.Close())
	}
	return &state{dir: dir, lock: lock}, nil
}

func (s *state) path(name string) string { return filepath.Join(s.dir, name) }

func (s *state) logs() string { return s.path("logs") }

// close gives the lock back.
func (s *state) close() error { return s.lock.Close() }

// token reads a token of the state folder, or makes one: 32 random bytes, readable by its owner alone.
func (s *state) token(name string) (string, error) {
	text, err := os.ReadFile(s.path(name))
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails, by its documentation
	token := hex.EncodeToString(secret[:])
	if err := os.WriteFile(s.path(name), []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the token cannot be kept: %w", err)
	}
	return token, nil
}
