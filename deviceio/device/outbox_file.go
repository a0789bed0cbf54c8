package device

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Files of an outbox in its state directory.
const (
	outboxName = "outbox.log"
	lockName   = "outbox.lock"
)

// ErrOutboxLocked says that another process holds the outbox of this state directory.
var ErrOutboxLocked = errors.New("the outbox is open in another process: give each process a state directory of its own")

// appender is the file as the outbox writes it; a test puts a failing one in its place.
type appender interface {
	io.WriteCloser
	Sync() error
}

// lockDir takes the outbox's lock, which the kernel frees when the process ends, however it ends.
func lockDir(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the outbox: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = fmt.Errorf("%s: %w", lock.Name(), ErrOutboxLocked)
	case err != nil:
		err = fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// readOutbox reads the file, cuts a torn write off its end, and tells how many bytes that was.
// A directory without a file gets one.
func readOutbox(dir string) (h *history, torn int64, err error) {
	path := filepath.Join(dir, outboxName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		line, err := appendLine(nil, record{Outbox: formatVersion})
		if err != nil {
			return nil, 0, err
		}
		return &history{end: int64(len(line))}, 0, replaceFile(path, line)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the outbox: %w", err)
	}
	if h, err = parseHistory(path, content); err != nil {
		return nil, 0, err
	}
	torn = int64(len(content)) - h.end
	if torn > 0 {
		err = cutFile(path, h.end)
	}
	return h, torn, err
}

func cutFile(path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cut a torn write off the outbox: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return fmt.Errorf("cut a torn write off the outbox: %w", err)
	}
	return f.Sync()
}

func openAppend(path string) (appender, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	return f, nil
}

// replaceFile puts content in place of a file so that after a crash there is the old one or the new one, whole.
func replaceFile(path string, content []byte) error {
	fresh := path + ".new" // whatever a crash left there is written over
	if err := writeSynced(fresh, content); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("put %s in place: %w", filepath.Base(path), err)
	}
	return syncDir(filepath.Dir(path))
}

func writeSynced(path string, content []byte) (err error) {
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

// syncDir makes a rename durable.
func syncDir(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the state directory: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Sync()
}
