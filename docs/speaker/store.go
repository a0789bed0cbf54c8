package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"errand/deviceio/wire"
)

// store is what the device remembers of every operation it was given, in one file. A device that does much would take a
// database: what counts is that put has it on disk before it returns.
type store struct {
	// ID names this memory: a new one, a new id, or "not found" would be taken for "never ran".
	ID    string            `json:"id"`
	Known map[string]record `json:"known"` // by operation id

	file string
}

type record struct {
	Method    string          `json:"method,omitempty"`
	Trace     wire.Trace      `json:"trace"`
	Terminal  *wire.TaskEvent `json:"terminal,omitempty"`
	Tombstone bool            `json:"tombstone,omitempty"` // cancelled before it came
}

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &store{ID: rand.Text(), Known: map[string]record{}, file: filepath.Join(dir, "tasks.json")}
	text, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		err := s.save()
		return s, err
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was done: %w", err)
	}
	return s, nil
}

func (s *store) put(operationID string, r record) error {
	s.Known[operationID] = r
	return s.save()
}

// save writes the file anew and puts it in the place of the old one: after a crash there is one of the two, whole.
func (s *store) save() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	fresh := s.file + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(fresh, s.file)
	}
	if err != nil {
		return fmt.Errorf("keep what was done: %w", err)
	}
	return syncFolder(filepath.Dir(s.file))
}

// syncFolder makes the new name durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
