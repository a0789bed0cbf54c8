package llm

import (
	"errors"
	"io"
)

// maxBody bounds an answer on the wire, in bytes: whatever a server sends, no more of it is held.
const maxBody = 4 << 20

// ErrTooLarge says that a server sent more than an answer can be.
var ErrTooLarge = errors.New("the answer is larger than 4 MiB")

// ReadBody reads an answer's body whole, and closes it. Every client reads with it.
func ReadBody(body io.ReadCloser) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if len(read) > maxBody {
		return nil, ErrTooLarge
	}
	return read, nil
}
