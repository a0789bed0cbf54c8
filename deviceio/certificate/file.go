package certificate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// entry is a certificate in the file: PEM of it, its chain and its key.
type entry struct {
	From time.Time `json:"from"`
	PEM  string    `json:"pem"`
}

// document is the file. It holds keys: only its owner may read it.
type document struct {
	Version      int     `json:"version"`
	Certificates []entry `json:"certificates"` // by From, the oldest first
}

const fileVersion = 1

func load(path string) (schedule, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the gateway's certificates: %w", err)
	}
	var doc document
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrBroken, err)
	}
	if doc.Version != fileVersion || len(doc.Certificates) == 0 {
		return nil, fmt.Errorf("%s: %w: version %d with %d certificates, want version %d and at least one",
			path, ErrBroken, doc.Version, len(doc.Certificates), fileVersion)
	}
	var all schedule
	for i, e := range doc.Certificates {
		c, err := parse([]byte(e.PEM), []byte(e.PEM))
		if err != nil {
			return nil, fmt.Errorf("%s: certificates[%d]: %w: %w", path, i, ErrBroken, err)
		}
		c.From, c.pem = e.From, e.PEM
		all = append(all, c)
	}
	return all, nil
}

// save puts the file in place so that after a crash there is the old one or the new one, whole.
func save(path string, all schedule) (err error) {
	doc := document{Version: fileVersion}
	for _, c := range all {
		doc.Certificates = append(doc.Certificates, entry{From: c.From.UTC(), PEM: c.pem})
	}
	body, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	fresh := path + ".new" // the lock makes it ours; whatever a crash left there is written over
	if err := writeSynced(fresh, append(body, '\n')); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func writeSynced(path string, body []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o600); err != nil { // what a crash left there may be another's to read
		return err
	}
	if _, err := f.Write(body); err != nil {
		return err
	}
	return f.Sync()
}

// lock waits until no other process changes the file. The kernel frees it when the process ends, however it ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the gateway's certificates: %w", err)
	}
	return func() { _ = f.Close() }, nil // nothing was written to it
}
