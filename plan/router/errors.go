package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"errand/catalog"
)

// ErrNoMatch says that no routine takes the whole sentence. It always comes inside a *NoMatch.
var ErrNoMatch = errors.New("no routine takes the whole sentence")

// NoMatch is the error of a sentence that nothing takes.
type NoMatch struct {
	// Offers lists what can be asked for, in the language of the utterance.
	Offers []string
}

func (e *NoMatch) Error() string {
	return ErrNoMatch.Error() + "; what can be asked for: " + strings.Join(e.Offers, ", ")
}

// Unwrap makes errors.Is(err, ErrNoMatch) true.
func (e *NoMatch) Unwrap() error { return ErrNoMatch }

// UnknownRoom is the error of a sentence that fits but for its room, which the device's room catalog does not have.
type UnknownRoom struct {
	// Said is the room as the person named it; Known are the names there are.
	Said  string
	Known []string
}

func (e *UnknownRoom) Error() string {
	return fmt.Sprintf("%q is no room of the device; its rooms are: %s", e.Said, strings.Join(e.Known, ", "))
}

// AmbiguousRoom is the error of a room name that stands for more than one room: nothing may move (case c10).
type AmbiguousRoom struct {
	Said       string
	Candidates []catalog.Room
}

func (e *AmbiguousRoom) Error() string {
	return fmt.Sprintf("%q may be any of %s; say which", e.Said, strings.Join(described(e.Candidates), ", "))
}

// names are those of the rooms, by which a person can say which is meant; none if all have the same.
func (e *AmbiguousRoom) names() []string {
	var names []string
	for _, r := range e.Candidates {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// described names rooms so that an operator can tell two of the same name apart.
func described(rooms []catalog.Room) []string {
	names := make([]string, len(rooms))
	for i, r := range rooms {
		names[i] = fmt.Sprintf("%s (%s)", r.Name, r.ID)
	}
	return names
}

// Explain words an error of Match for the person who spoke, in the language of the locale; "" for any other error.
func Explain(c *catalog.Catalog, err error, locale string) string {
	var none *NoMatch
	var unknown *UnknownRoom
	var ambiguous *AmbiguousRoom
	switch {
	case errors.As(err, &unknown):
		return catalog.Render(c.Sentences["cannot_ground"].In(locale),
			map[string]string{"said": unknown.Said, "known": strings.Join(unknown.Known, ", ")})
	case errors.As(err, &ambiguous):
		return catalog.Render(c.Sentences["ambiguous_room"].In(locale),
			map[string]string{"said": ambiguous.Said, "known": strings.Join(ambiguous.names(), ", ")})
	case errors.As(err, &none):
		return catalog.Render(c.Sentences["no_plan"].In(locale), map[string]string{"offers": strings.Join(none.Offers, ", ")})
	}
	return ""
}
