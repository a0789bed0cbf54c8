package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"errand/deviceio/wire"
)

// deliver sends the outbox's events over one connection, strictly in order: the next goes out only once the one
// before is acknowledged. It returns nil when the connection ends, and an error only if the outbox failed. The urgent ones have
// a deliver of their own; what both send is one event, acknowledged twice.
func (c *Client) deliver(ctx context.Context, s *session, next func(context.Context) (Pending, error)) error {
	for attempt := 0; ; attempt++ {
		p, err := next(ctx)
		if err != nil {
			return ignoreEnd(ctx, err)
		}
		err = c.send(ctx, s, p)
		if err == nil {
			if err := c.outbox.Ack(p.EventID); err != nil {
				return ignoreEnd(ctx, err)
			}
			attempt = -1
			continue
		}
		if ctx.Err() != nil || errors.Is(err, errSessionEnded) {
			return nil //nolint:nilerr // the event stays in the outbox; why the connection ended, serve says
		}
		delay := c.delay(attempt, err)
		s.log.Warn("device: the event is not recorded yet: it is sent again", "event_id", p.EventID, "err", err, "retry_in", delay)
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil
		}
	}
}

// ignoreEnd tells an outbox that failed from one that was closed or merely waited on too long.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the wait ended with the connection; the outbox is well
	}
	return fmt.Errorf("deliver events: %w", err)
}

// send sends one event. Nil means that the cloud has it on record: only ok:true for this very event id says so.
func (c *Client) send(ctx context.Context, s *session, p Pending) error {
	f, err := s.call(ctx, wire.MethodNodeEvent, wire.NodeEvent{Event: p.Event, Payload: p.Payload}, c.opts.AckTimeout)
	if err != nil {
		return err
	}
	if !*f.OK {
		return f.Error
	}
	ack, err := wire.ParseEventAck(f.Payload)
	if err != nil {
		return fmt.Errorf("the answer acknowledges nothing: %w", err)
	}
	if ack.EventID != p.EventID {
		return fmt.Errorf("the answer acknowledges %s, another event", ack.EventID)
	}
	if ack.Ack != wire.AckApplied {
		s.log.Warn("device: the event is on record, but no plan took it", "event_id", p.EventID, "ack", ack.Ack, "reason", ack.Reason)
	}
	return nil
}
