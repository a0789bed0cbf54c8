package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"errand/catalog"
	"errand/deviceio/wire"
	"errand/plan"
)

// takeCommandResult takes the result of a command of a plain node, if it is one. It is sent once: it is recorded first and
// acknowledged then, off the reading loop. known is false for a result of anything else.
func (s *session) takeCommandResult(frameID string, r wire.InvokeResult) (known bool) {
	inv, known := s.invoked.read(r.ID)
	switch {
	case inv != nil:
		s.g.recording.Add(1)
		go s.recordResult(frameID, inv, r)
	case known: // the same result again
		s.reply(frameID, map[string]any{"ok": true, "ignored": true})
	}
	return known
}

// recordResult hands a result to its plan as an event, or into the record of strays, and acknowledges it. It outlives the socket:
// a result that was read counts, whatever became of the connection since (openclaw#116363).
func (s *session) recordResult(frameID string, inv *invocation, r wire.InvokeResult) {
	defer s.g.recording.Done()
	ev := s.resultEvent(inv, r)
	late := inv.late
	ack, err := s.persist(ev)
	s.g.live.record(ev)
	s.invoked.forget(inv)
	s.quieter()
	if err != nil {
		s.log.Error("the result of a command is recorded nowhere", "operation", ev.OperationID, "error", err)
		s.again(frameID, "not recorded: "+err.Error())
		return
	}
	s.g.counters.acks.WithLabelValues(wire.MethodInvokeResult, ack.Ack).Inc()
	answer := map[string]any{"ok": true}
	if late || ack.Ack != wire.AckApplied {
		answer["ignored"] = true
	}
	s.reply(frameID, answer)
}

// persist tries until the event is durable. When the gateway ends, one last try is made, and then the record of strays must do.
func (s *session) persist(ev plan.Event) (wire.EventAck, error) {
	body, err := json.Marshal(ev)
	if err != nil {
		return wire.EventAck{}, fmt.Errorf("write the event: %w", err)
	}
	record := stray{id: identity{wire.Envelope{EventID: ev.EventID, Seq: ev.Seq}, ev.OperationID}, epoch: ev.Epoch, raw: body, body: ev}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		ack, err := s.persistOnce(ev, record)
		if err == nil {
			return ack, nil
		}
		s.log.Warn("the result of a command could not be recorded: it is tried again", "operation", ev.OperationID, "in", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-s.g.quit.Done():
			return s.persistLast(ev, record)
		}
	}
}

// persistLast is the end of the tries.
func (s *session) persistLast(ev plan.Event, record stray) (wire.EventAck, error) {
	if ack, err := s.persistOnce(ev, record); err == nil {
		return ack, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.g.opts.SignalTimeout)
	defer cancel()
	record.ack, record.reason = wire.AckUnmatched, "the gateway ended before plan "+ev.PlanID+" could be told"
	return s.stray(ctx, record)
}

func (s *session) persistOnce(ev plan.Event, record stray) (wire.EventAck, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.g.opts.SignalTimeout)
	defer cancel()
	// Where it cannot be known whether the device is let in, the result counts: it is sent once only.
	if err := s.admitted(ctx); errors.Is(err, errThrownOut) {
		record.ack, record.reason = wire.AckRefused, err.Error()
		return s.stray(ctx, record)
	}
	return s.signal(ctx, ev.PlanID, plan.Signal{Event: &ev}, record)
}

// resultEvent makes an event of a result. Its id is the invoke's, and its number the place of the result among those of its
// connection, whose epoch is a plain node's boot.
func (s *session) resultEvent(inv *invocation, r wire.InvokeResult) plan.Event {
	c := inv.submit
	ev := plan.Event{EventID: "invoke-" + inv.id, DeviceID: s.deviceID, Epoch: s.bootEpoch, Name: plan.EventCompleted, OperationID: c.OperationID,
		TaskID: inv.id, TaskMethod: c.TaskMethod, WorkflowID: c.PlanID, PlanID: c.PlanID, StepID: c.StepID, OutputKey: c.OutputKey,
		Timestamp: s.g.opts.Now().UnixMilli()}
	if s.declared == nil {
		ev.Seq = inv.seq // the numbers of a device that counts by itself are its own
	}
	if r.OK {
		ev.Result = s.g.translate.strip(c.TaskMethod, s.g.named(c.NodeCommand, r.Body(), s))
		return ev
	}
	ev.Name, ev.Report = s.g.translate.failure(r)
	return ev
}

// failure is how a command failed that was not carried out to its end, by a code of the reason table.
func (t translator) failure(r wire.InvokeResult) (plan.EventName, *plan.Report) {
	e := wire.InvokeError{Code: catalog.UnknownReason.Code, Message: "it did not run, and gave no reason"}
	if r.Error != nil && r.Error.Code != "" {
		e = *r.Error
	}
	var params map[string]any
	code := e.Code
	switch {
	case code == wire.InvokeUnknownCommand, code == wire.InvokeUnavailable && strings.Contains(e.Message, "not supported"):
		code = reasonNotOffered
	case code == wire.InvokeUnavailable: // such as "node host is updating": said before execution
		code = wire.InvokeNotReady
	case code == wire.InvokeInvalidRequest:
		code = "INVALID_PARAMETER"
	case strings.HasSuffix(code, "_"+reasonPermission) && t.reasons.Reason(code).Class == catalog.UnknownReason.Class:
		code, params = reasonPermission, map[string]any{"permission": strings.TrimSuffix(code, "_"+reasonPermission)}
	}
	name := plan.EventFailed
	if code == "TIMEOUT" {
		name = plan.EventTimedOut
	}
	return name, t.reason(code, params, clipped(e.Code+": "+e.Message))
}

// maxFailure bounds the text of a failure, which enters a history, in bytes.
const maxFailure = 500

func clipped(text string) string {
	if len(text) <= maxFailure {
		return text
	}
	return strings.ToValidUTF8(text[:maxFailure], "") + "…"
}

// named is a node's result with a name for each value in it, as a result contract lists them: what lies within an object is
// named with "_" ("battery.level" is battery_level), and of a list the first ("contacts_0_displayName") and how many there are
// (contacts_count). Bytes are kept in the media store, and their place taken by a reference.
func (g *Gateway) named(command string, raw json.RawMessage, s *session) map[string]any {
	var result any
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil // no result, or none that can be read: a completion all the same
	}
	flat := make(map[string]any)
	flatten("", result, 0, flat)
	capability := g.translate.command(command)
	if capability == nil {
		return flat
	}
	for _, f := range capability.ResultContract.BindableResultFields {
		if f.Stored == "" {
			continue
		}
		delete(flat, f.Name)
		if ref, err := g.keepMedia(flat[f.Stored]); err != nil {
			s.log.Warn("the bytes of a result are not kept", "command", command, "field", f.Stored, "error", err)
		} else {
			flat[f.Name] = ref
		}
	}
	return flat
}

// maxFlat bounds the depth to which values are named, and their number.
const (
	maxFlatDepth = 4
	maxFlat      = 1000
)

func flatten(name string, value any, depth int, into map[string]any) {
	join := func(part string) string {
		if name == "" {
			return part
		}
		return name + "_" + part
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if depth < maxFlatDepth && len(into) < maxFlat {
				flatten(join(key), inner, depth+1, into)
			}
		}
	case []any:
		into[join("count")] = float64(len(v))
		if len(v) > 0 && depth < maxFlatDepth {
			flatten(join("0"), v[0], depth+1, into)
		}
	case nil:
	default:
		if name != "" {
			into[name] = v
		}
	}
}

// keepMedia stores the bytes of a base64 text.
func (g *Gateway) keepMedia(value any) (string, error) {
	text, ok := value.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("there are none")
	case g.opts.Media == nil:
		return "", fmt.Errorf("this gateway has no media store")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("not base64: %w", err)
	}
	return g.opts.Media.Keep(data)
}
