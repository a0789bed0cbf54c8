package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"errand/plan"
	"errand/starter/api"
	"errand/starter/plans"
)

// errBroken means that the stream of events ended before the outcome.
var errBroken = errors.New("the connection to the API broke off")

const (
	// retries is how often in a row a watch that broke off is taken up again, retryAfter how long after.
	retries    = 5
	retryAfter = time.Second
)

// watch tells the plan's changes until its outcome, which is the last. When the connection breaks off it goes on where
// it was: entries are numbered, so none is told twice or missed.
func (c *client) watch(ctx context.Context, id string, tell func(plans.Change)) (plan.Outcome, error) {
	var outcome *plan.Outcome
	last := 0
	for broken := 0; ; {
		told := last
		err := c.stream(ctx, id, last, func(ch plans.Change) {
			if ch.Entry != nil {
				last = ch.Entry.N
			}
			if ch.Outcome != nil {
				outcome = ch.Outcome
			}
			tell(ch)
		})
		if outcome != nil {
			return *outcome, nil
		}
		if ctx.Err() != nil {
			return plan.Outcome{}, ctx.Err()
		}
		if last > told {
			broken = 0
		}
		if broken++; !errors.Is(err, errBroken) || broken > retries {
			return plan.Outcome{}, err
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return plan.Outcome{}, ctx.Err()
		}
	}
}

// stream reads one stream of events to its end.
func (c *client) stream(ctx context.Context, id string, since int, tell func(plans.Change)) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if since > 0 {
		header.Set("Last-Event-ID", strconv.Itoa(since))
	}
	response, err := c.send(ctx, http.MethodGet, "/v1/plans/"+id+"/events", nil, header)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return readEvents(response.Body, tell)
}

// readEvents reads server-sent events: lines of "field: value", an empty line after each event.
func readEvents(r io.Reader, tell func(plans.Change)) error {
	reader := bufio.NewReader(r)
	var name, data string
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		line = strings.TrimRight(line, "\r\n")
		field, text, _ := strings.Cut(line, ":")
		text = strings.TrimPrefix(text, " ")
		switch {
		case line == "" && data != "":
			done, err := event(name, data, tell)
			if err != nil || done {
				return err
			}
			name, data = "", ""
		case field == "event":
			name = text
		case field == "data":
			data += text
		}
	}
}

// event tells one event; done says that it was the last.
func event(name, data string, tell func(plans.Change)) (done bool, err error) {
	read := func(into any) error {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			return fmt.Errorf("event %s cannot be read: %w", name, err)
		}
		return nil
	}
	switch name {
	case api.EventEntry:
		var c plans.Change
		if err := read(&c.Entry); err != nil {
			return false, err
		}
		tell(c)
	case api.EventBound:
		var c plans.Change
		if err := read(&c.Bound); err != nil {
			return false, err
		}
		tell(c)
	case api.EventOutcome:
		var c plans.Change
		if err := read(&c.Outcome); err != nil {
			return false, err
		}
		tell(c)
		return true, nil
	case api.EventProblem:
		p := new(api.Problem)
		if err := read(p); err != nil {
			return false, err
		}
		return true, p
	}
	return false, nil // an event of a newer API
}
