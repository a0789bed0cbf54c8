// Package media keeps the bytes that devices send, such as a photo, so that no history has to: a plan carries a reference.
//
//	s := media.Open("media", media.Limits{})
//	ref, err := s.Keep(photo)         // "media:sha256-9f86d0..."
//	bytes, err := s.Read(ref)         // ErrGone once newer ones needed the room
//
// A reference is the hash of its bytes: the same bytes have one. Files are written whole or not at all. When the store is
// full, the oldest go.
package media

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Prefix begins every reference.
const Prefix = "media:sha256-"

var (
	// ErrTooLarge means that one item is larger than Limits.Item, and was not kept.
	ErrTooLarge = errors.New("the bytes are larger than one item may be")
	// ErrGone means that the reference names nothing that is here (any more).
	ErrGone = errors.New("there are no bytes under this reference: they made room for newer ones, or never were here")
)

// Limits bound the store, in bytes. 0 is the default.
type Limits struct {
	Item  int64 // of one item; default 16 MiB
	Total int64 // of all; default 512 MiB
}

// Store is a folder of files, each named by its hash. It is safe for concurrent use.
type Store struct {
	folder string
	limits Limits
	mu     sync.Mutex
}

// Open names the folder. It is made with the first item, for its owner alone.
func Open(folder string, limits Limits) *Store {
	if limits.Item <= 0 {
		limits.Item = 16 << 20
	}
	if limits.Total <= 0 {
		limits.Total = 512 << 20
	}
	return &Store{folder: folder, limits: limits}
}

// Keep stores bytes and returns their reference.
func (s *Store) Keep(data []byte) (ref string, err error) {
	if int64(len(data)) > s.limits.Item {
		return "", fmt.Errorf("%w: %d bytes, may be %d", ErrTooLarge, len(data), s.limits.Item)
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return "", fmt.Errorf("make the media store: %w", err)
	}
	if err := s.makeRoom(int64(len(data))); err != nil {
		return "", err
	}
	if err := s.write(name, data); err != nil {
		return "", fmt.Errorf("keep %d bytes in %s: %w", len(data), s.folder, err)
	}
	return Prefix + name, nil
}

// write puts a file in its place in one step, and onto the disk.
func (s *Store) write(name string, data []byte) (err error) {
	file, err := os.CreateTemp(s.folder, "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(s.folder, name))
}

var reference = regexp.MustCompile(`^media:sha256-([0-9a-f]{64})$`)

// Read returns the bytes of a reference.
func (s *Store) Read(ref string) ([]byte, error) {
	found := reference.FindStringSubmatch(ref)
	if found == nil {
		return nil, fmt.Errorf("%q: %w", ref, ErrGone)
	}
	data, err := os.ReadFile(filepath.Join(s.folder, found[1]))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q: %w", ref, ErrGone)
	}
	return data, err
}

// makeRoom removes the oldest items until so many more bytes fit.
func (s *Store) makeRoom(more int64) error {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return fmt.Errorf("look through %s: %w", s.folder, err)
	}
	var items []fs.FileInfo
	total := more
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), "new-") {
			continue // being written, or just removed
		}
		items = append(items, info)
		total += info.Size()
	}
	slices.SortFunc(items, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, item := range items {
		if total <= s.limits.Total {
			break
		}
		if err := os.Remove(filepath.Join(s.folder, item.Name())); err != nil {
			return fmt.Errorf("make room in %s: %w", s.folder, err)
		}
		total -= item.Size()
	}
	return nil
}
