package linefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("it is open in another process")

// Lock takes the lock file at path, made if missing, which the kernel frees when the process ends, however it ends.
// Close frees it before.
func Lock(path string) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = fmt.Errorf("%s: %w", path, ErrLocked)
	case err != nil:
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Cut cuts a torn write off the end of a file.
func Cut(path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cut a torn write off: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return fmt.Errorf("cut a torn write off: %w", err)
	}
	return f.Sync()
}

// OpenAppend opens a file for the writes that follow.
func OpenAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
}

// Replace puts content in place of a file so that after a crash there is the old one or the new one, whole.
func Replace(path string, content []byte) error {
	fresh := path + ".new" // whatever a crash left there is written over
	if err := WriteSynced(fresh, content); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("put %s in place: %w", filepath.Base(path), err)
	}
	return SyncDir(filepath.Dir(path))
}

// WriteSynced writes a file, of its owner only, and waits until it is on disk.
func WriteSynced(path string, content []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return f.Sync()
}

// SyncDir makes a rename in a directory durable.
func SyncDir(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the state directory: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Sync()
}
