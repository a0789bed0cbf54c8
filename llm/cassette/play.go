package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"errand/llm"
)

// Player answers from recorded exchanges alone.
type Player struct {
	dir       string
	exchanges []exchange // in the order of their files' names
	byHash    map[string]*exchange
}

var _ llm.Model = (*Player)(nil)

// Open reads all exchanges in a folder, and reports every file that is none.
func Open(dir string) (*Player, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("cassette %s: %w", dir, err)
	}
	p := &Player{dir: dir, byHash: make(map[string]*exchange, len(files)), exchanges: make([]exchange, len(files))}
	var errs []error
	for i, file := range files {
		x := &p.exchanges[i]
		if err := x.read(file); err != nil {
			errs = append(errs, fmt.Errorf("cassette %s: %w", file, err))
			continue
		}
		p.byHash[x.Hash] = x
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return p, nil
}

func (x *exchange) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, x); err != nil {
		return err
	}
	switch {
	case x.Version != fileVersion:
		return fmt.Errorf("its format is version %d, this program knows %d: record it again", x.Version, fileVersion)
	case x.Hash != key(x.Question):
		return errors.New("its hash is not that of its question: it was changed by hand, record it again")
	case (x.Answer == nil) == (x.Failure == nil):
		return errors.New("it has neither an answer nor a failure, or both")
	}
	return nil
}

// Generate answers what was recorded, or that nothing was.
func (p *Player) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, &llm.Error{Kind: llm.Canceled, Detail: "the caller gave up", Err: ctx.Err()}
	}
	list, err := parts(r)
	if err != nil {
		return llm.Response{}, &llm.Error{Kind: llm.BadRequest, Detail: err.Error(), Err: err}
	}
	x := p.byHash[key(list)]
	if x == nil {
		return llm.Response{}, &llm.Error{Kind: llm.Unrecorded, Detail: p.miss(list)}
	}
	if x.Failure != nil {
		detail, err := restore(x.Failure.Detail, r.Personal)
		return llm.Response{}, &llm.Error{Kind: x.Failure.Kind, Status: x.Failure.Status, Detail: detail, Meta: x.Failure.Meta, Err: err}
	}
	text, err := restore(x.Answer.Text, r.Personal)
	if err != nil {
		return llm.Response{}, &llm.Error{Kind: llm.Unrecorded, Detail: err.Error(), Err: err}
	}
	return llm.Response{Text: text, Meta: x.Answer.Meta}, nil
}

// miss says that there is no such exchange, and how this question differs from the nearest one.
func (p *Player) miss(list []part) string {
	text := fmt.Sprintf("none of the %d exchanges recorded in %s answers this question (%s)", len(p.exchanges), p.dir, key(list)[:24])
	nearest, differs := (*exchange)(nil), []string(nil)
	for i := range p.exchanges {
		if d := difference(list, p.exchanges[i].Question); nearest == nil || len(d) < len(differs) {
			nearest, differs = &p.exchanges[i], d
		}
	}
	if nearest == nil {
		return text + ": record it"
	}
	return fmt.Sprintf("%s: it differs from the nearest, %s, in %v; record it, or keep out of it what changes every time", text, nearest.fileName(), differs)
}

// difference names the parts that are not the same in both questions.
func difference(a, b []part) []string {
	var names []string
	for _, p := range slices.Concat(a, b) {
		if (!slices.Contains(a, p) || !slices.Contains(b, p)) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}
