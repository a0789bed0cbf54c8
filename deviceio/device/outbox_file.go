package device

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"errand/deviceio/linefile"
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
	lock, err := linefile.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, linefile.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, lockName), ErrOutboxLocked)
	}
	return lock, err
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
		return &history{end: int64(len(line))}, 0, linefile.Replace(path, line)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the outbox: %w", err)
	}
	if h, err = parseHistory(path, content); err != nil {
		return nil, 0, err
	}
	torn = int64(len(content)) - h.end
	if torn > 0 {
		err = linefile.Cut(path, h.end)
	}
	return h, torn, err
}

func openAppend(path string) (appender, error) {
	f, err := linefile.OpenAppend(path)
	if err != nil {
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	return f, nil
}
