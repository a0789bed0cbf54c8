package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"errand/llm"
)

// Recorder asks a model, and keeps each exchange in a file. The same question asked again replaces its file.
type Recorder struct {
	model llm.Model
	dir   string
}

var _ llm.Model = (*Recorder)(nil)

// Record returns a model that keeps its exchanges in a folder, which is made if it is absent.
func Record(model llm.Model, dir string) *Recorder { return &Recorder{model: model, dir: dir} }

// Generate asks the model. An exchange that cannot be kept is an error, even where there is an answer: a cassette with a
// hole in it would be found out only when it is played.
func (c *Recorder) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	said, err := c.model.Generate(ctx, r)
	var failed *llm.Error
	if err != nil && (!errors.As(err, &failed) || !failed.Kind.Answered()) {
		return said, err
	}
	if trouble := c.keep(r, said, failed); trouble != nil {
		meta := said.Meta
		if failed != nil {
			meta = failed.Meta
		}
		return llm.Response{}, &llm.Error{Kind: llm.Unrecorded, Detail: "the exchange cannot be recorded: " + trouble.Error(), Meta: meta, Err: trouble}
	}
	return said, err
}

func (c *Recorder) keep(r llm.Request, said llm.Response, failed *llm.Error) error {
	list, err := parts(r)
	if err != nil {
		return err
	}
	x := exchange{Version: fileVersion, Hash: key(list), Purpose: r.Purpose, Question: list}
	if failed != nil {
		detail, err := redact(failed.Detail, r.Personal)
		if err != nil {
			return err
		}
		x.Failure = &failure{Kind: failed.Kind, Status: failed.Status, Detail: detail, Meta: failed.Meta}
	} else {
		text, err := redact(said.Text, r.Personal)
		if err != nil {
			return err
		}
		x.Answer = &answer{Text: text, Meta: said.Meta}
	}
	return c.write(&x)
}

// write puts the file in its place whole, whoever reads or writes at the same time.
func (c *Recorder) write(x *exchange) error {
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, ".recording-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, x.fileName()))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", c.dir, err), os.Remove(f.Name()))
	}
	return nil
}
