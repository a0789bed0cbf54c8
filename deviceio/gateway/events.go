package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// errUnknownBoot means that an event is of a boot that the device did not list when it connected: it has no place in the order.
var errUnknownBoot = errors.New("the device never listed this boot: list every boot with unacknowledged events in connect")

// reasonLiveOnly is told with an acknowledgement of an event that updates live views and enters no history.
const reasonLiveOnly = "live_only"

// queueEvent puts an event in line. One that finds the line full is recorded nowhere: the device sends it again.
func (s *session) queueEvent(f wire.Frame) {
	if s.g.draining.Load() {
		s.again(f.ID, "the gateway is shutting down")
		return
	}
	if s.takeStop(f) {
		return
	}
	s.enqueue(f)
}

// enqueue puts a frame in line that is to be recorded.
func (s *session) enqueue(f wire.Frame) {
	if retry, ok := s.g.flood.event(s.ctx, s.deviceID, 1); !ok {
		s.againAfter(f.ID, "too many events", retry)
		return
	}
	if !s.hold(f) {
		s.again(f.ID, "too many events, or bytes of them, are waiting")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.handling { // an idle device costs no goroutine
		s.handling = true
		s.handlers.Go(s.handleEvents)
	}
}

// handleEvents takes this device's events one by one, in order, until there are none in hand.
func (s *session) handleEvents() {
	for {
		f, ok := s.next()
		if !ok {
			return
		}
		s.handleEvent(f)
		s.done(f)
	}
}

// next takes the oldest event in hand; ok is false, and nobody handles events any more, if there is none or the session is over.
func (s *session) next() (f wire.Frame, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inHand) == 0 || s.ctx.Err() != nil {
		s.inHand, s.handling = nil, false
		return wire.Frame{}, false
	}
	f, s.inHand = s.inHand[0], s.inHand[1:]
	return f, true
}

// requestID names a signal for the server, which drops one that it has seen. The same event sent again has the same id;
// another event under a reused event id has not, or it would be acknowledged and lost (law 19).
func (s *session) requestID(e stray) (string, error) {
	body, err := json.Marshal(e.body)
	if err != nil {
		return "", fmt.Errorf("write the event: %w", err)
	}
	return s.deviceID + "/" + e.id.EventID + "/" + hash(body)[:16], nil
}

func (s *session) handleEvent(f wire.Frame) {
	leave, err := s.g.lanes.enter(s.ctx, s.deviceID)
	if err != nil {
		return // the socket is gone: the device sends it again over the next one
	}
	defer leave()
	ctx, cancel := context.WithTimeout(s.ctx, s.g.opts.SignalTimeout)
	defer cancel()
	if err := s.admitted(ctx); err != nil {
		s.unrecorded(f.ID, err)
		return
	}
	if f.Method == wire.MethodInvokeResult {
		s.handleResult(ctx, f)
		return
	}
	ack, known := wire.EventAck{}, true
	node, err := wire.ParseNodeEvent(f.Params)
	switch {
	case err == nil:
		ack, known, err = s.acknowledge(ctx, node)
	case ours(f.Params): // sent again it would be no better, and nothing behind it in the outbox would ever be heard
		ack, err = s.refuse(ctx, identityWithin(f.Params), f.Params, "node.event: "+err.Error())
	default:
		s.answer(wire.NewError(f.ID, wire.FrameError{Code: wire.CodeInvalidRequest, Message: "node.event: " + err.Error()}))
		return
	}
	switch {
	case !known: // such as node.host.stats of a plain node
		s.reply(f.ID, map[string]any{"ok": true, "event": node.Event, "handled": false})
	case err != nil:
		s.log.Warn("an event could not be recorded: the device must send it again", "event", node.Event, "error", err)
		s.again(f.ID, "not recorded: "+err.Error())
	default:
		s.g.counters.acks.WithLabelValues(node.Event, ack.Ack).Inc()
		s.reply(f.ID, ack)
	}
}

// handleResult puts a result on record that nobody waits for.
func (s *session) handleResult(ctx context.Context, f wire.Frame) {
	r, err := wire.ParseInvokeResult(f.Params)
	if err == nil {
		err = s.unawaited(ctx, r, f.Params)
	}
	if err != nil {
		s.log.Warn("a result that nobody waits for could not be recorded", "invoke", r.ID, "error", err)
		s.again(f.ID, "not recorded: "+err.Error())
		return
	}
	s.reply(f.ID, map[string]any{"ok": true, "ignored": true})
}

// errThrownOut means that the device is not let in any more: what it says counts for nothing, and it keeps it.
var errThrownOut = errors.New("the device is not approved any more")

// admitted tells whether what the device says still counts. It is read anew for each event: from the moment at which a revocation is on
// record nothing that comes is taken, though the socket stands for a moment more.
func (s *session) admitted(ctx context.Context) error {
	state, _, err := s.g.opts.Registry.Standing(ctx, s.deviceID)
	if err != nil {
		return fmt.Errorf("whether the device is let in cannot be known now: %w", err)
	}
	if state != registry.Approved {
		return errThrownOut
	}
	return nil
}

// unrecorded answers that an event is recorded nowhere, and ends the socket of a device that was thrown out.
func (s *session) unrecorded(requestID string, why error) {
	s.again(requestID, "not recorded: "+why.Error())
	if errors.Is(why, errThrownOut) {
		s.log.Warn("closing the socket: the device spoke after it was revoked")
		s.cutOff()
	}
}

// again answers ok:false: the event is recorded nowhere.
func (s *session) again(requestID, message string) { s.againAfter(requestID, message, time.Second) }

func (s *session) againAfter(requestID, message string, retry time.Duration) {
	s.g.counters.unrecorded.Inc()
	s.answer(wire.NewError(requestID, wire.FrameError{Code: wire.CodeUnavailable, Message: message, Retryable: true, RetryAfterMs: retry.Milliseconds()}))
}

// ours tells whether an event that cannot be read is at least named as one of those that an outbox keeps.
func ours(params json.RawMessage) bool {
	var node struct {
		Event string `json:"event"`
	}
	if json.Unmarshal(params, &node) != nil {
		return false
	}
	return node.Event == wire.NodeTaskEvent || node.Event == wire.NodeAnswer || node.Event == wire.NodeObservation
}

// identityWithin reads who an event is whose envelope is broken, as far as that can be read.
func identityWithin(params json.RawMessage) identity {
	var node wire.NodeEvent
	_ = json.Unmarshal(params, &node) // what cannot be read stays empty
	_, err := wire.ParseTaskEvent(node.Body())
	if refused := (*wire.RefusedEvent)(nil); errors.As(err, &refused) {
		return identityOf(refused)
	}
	return readIdentity(node.Body())
}

// acknowledge handles one event and says how it was recorded. known is false for events that mean nothing here.
func (s *session) acknowledge(ctx context.Context, node wire.NodeEvent) (ack wire.EventAck, known bool, err error) {
	switch node.Event {
	case wire.NodeTaskEvent:
		ack, err = s.taskEvent(ctx, node.Body())
	case wire.NodeAnswer:
		ack, err = s.answerEvent(ctx, node.Body())
	case wire.NodeObservation:
		ack, err = s.observation(ctx, node.Body())
	default:
		return wire.EventAck{}, false, nil
	}
	return ack, true, err
}

// taskEvent hands a task event to its plan.
func (s *session) taskEvent(ctx context.Context, raw json.RawMessage) (wire.EventAck, error) {
	e, err := wire.ParseTaskEvent(raw)
	if refused := (*wire.RefusedEvent)(nil); errors.As(err, &refused) {
		return s.refuse(ctx, identityOf(refused), raw, refused.Faults.Error())
	} else if err != nil {
		return wire.EventAck{}, err
	}
	id := identity{e.Envelope, e.OperationID}
	epoch, err := s.epochOf(ctx, e.BootID)
	if errors.Is(err, errUnknownBoot) {
		return s.refuse(ctx, id, raw, err.Error())
	} else if err != nil {
		return wire.EventAck{}, err
	}
	workflowID, err := destination(e.Trace)
	if err != nil {
		return s.refuse(ctx, id, raw, err.Error())
	}
	ev := s.g.translate.event(s.deviceID, epoch, e)
	s.g.nameStop(&ev)
	if workflowID == "" {
		return s.stray(ctx, stray{id: id, epoch: epoch, ack: wire.AckUnmatched, reason: "it names no plan", raw: raw, body: ev})
	}
	if e.EventName == wire.TaskUnknown { // the device lost track of it: the plan asks, and takes nothing for granted
		doubt := plan.Signal{Doubt: &plan.Doubt{DeviceID: s.deviceID, OperationID: e.OperationID, Why: "the device cannot tell how it stands: " + e.ReasonCode}}
		return s.signal(ctx, workflowID, doubt, stray{id: id, epoch: epoch, raw: raw, body: ev})
	}
	if !s.g.live.needsSignal(ev, s.g.wantsStarted(ev.TaskMethod)) {
		s.g.live.record(ev)
		return wire.EventAck{EventID: e.EventID, Ack: wire.AckApplied, Reason: reasonLiveOnly}, nil
	}
	ack, err := s.signal(ctx, workflowID, plan.Signal{Event: &ev}, stray{id: id, epoch: epoch, raw: raw, body: ev})
	if err == nil {
		s.g.live.record(ev)
	}
	return ack, err
}

// wantsStarted tells whether a plan should hear that a task of this method started.
func (g *Gateway) wantsStarted(taskMethod string) bool {
	if g.opts.ForwardStarted {
		return true
	}
	for _, c := range g.opts.Catalog.Capabilities {
		if c.TaskMethod == taskMethod && c.ReportStarted {
			return true
		}
	}
	return false
}

// destination is the plan an event is about: by its operation id, else by its workflow id; "" if it names none that
// could be ours. The two must agree, for a wrong guess would move the wrong plan on.
func destination(t wire.Trace) (string, error) {
	workflowID := t.CloudWorkflowID
	if op, err := plan.ParseOperationID(t.OperationID); err == nil {
		for name, other := range map[string]string{"cloud_workflow_id": t.CloudWorkflowID, "cloud_plan_id": t.CloudPlanID} {
			if other != "" && other != op.Plan {
				return "", fmt.Errorf("%s: is %q, but operation_id %q is of plan %q", name, other, t.OperationID, op.Plan)
			}
		}
		workflowID = op.Plan
	}
	if !plan.ValidID(workflowID) {
		return "", nil
	}
	return workflowID, nil
}

// answerEvent hands a person's answer to the plan that asked, if they may give it. Question ids are "<plan id>.<n>".
func (s *session) answerEvent(ctx context.Context, raw json.RawMessage) (wire.EventAck, error) {
	a, err := wire.ParseAnswerEvent(raw)
	if refused := (*wire.RefusedEvent)(nil); errors.As(err, &refused) {
		return s.refuse(ctx, identityOf(refused), raw, refused.Faults.Error())
	} else if err != nil {
		return wire.EventAck{}, err
	}
	id := identity{a.Envelope, ""}
	epoch, _, err := s.lookupEpoch(ctx, a.BootID)
	if err != nil {
		return wire.EventAck{}, err
	}
	asked, _, _ := strings.Cut(a.QuestionID, ".")
	if a.CloudWorkflowID != "" && a.CloudWorkflowID != asked {
		return s.refuse(ctx, id, raw, fmt.Sprintf("cloud_workflow_id: is %q, but question %q is of plan %q", a.CloudWorkflowID, a.QuestionID, asked))
	}
	voice, err := s.g.opts.Registry.VoiceAt(ctx, s.deviceID, a.SpeakerID)
	if err != nil {
		return wire.EventAck{}, fmt.Errorf("find who speaks: %w", err)
	}
	answer := plan.Answer{QuestionID: a.QuestionID, Choice: a.Choice, By: voice.By, MayConfirm: voice.Confirm}
	if !plan.ValidID(asked) {
		return s.stray(ctx, stray{id: id, epoch: epoch, ack: wire.AckUnmatched, reason: "the question is of no plan", raw: raw, body: answer})
	}
	e := stray{id: id, epoch: epoch, raw: raw, body: answer}
	no, err := s.judge(ctx, asked, voice, a)
	if err != nil {
		return wire.EventAck{}, err
	}
	if e.ack, e.reason = no.ack, no.reason; no.ack != "" {
		return s.stray(ctx, e)
	}
	return s.signal(ctx, asked, plan.Signal{Answer: &answer}, e)
}

// signal hands something to a plan of this device. What no plan can take is recorded as stray.
func (s *session) signal(ctx context.Context, workflowID string, sig plan.Signal, e stray) (wire.EventAck, error) {
	foreign, err := s.g.foreign(ctx, workflowID, s.deviceID)
	if err != nil {
		return wire.EventAck{}, fmt.Errorf("find whose plan %s is: %w", workflowID, err)
	}
	if foreign {
		e.ack, e.reason = wire.AckUnmatched, "plan "+workflowID+" is not one of this device"
		return s.stray(ctx, e)
	}
	requestID, err := s.requestID(e)
	if err != nil {
		return wire.EventAck{}, err
	}
	err = s.g.opts.Signaller.Signal(ctx, workflowID, requestID, sig)
	switch {
	case err == nil:
		return wire.EventAck{EventID: e.id.EventID, Ack: wire.AckApplied}, nil
	case errors.Is(err, ErrPlanOver):
		e.ack, e.reason = wire.AckLate, "plan "+workflowID+" is over"
	case errors.Is(err, ErrPlanUnknown):
		e.ack, e.reason = wire.AckUnmatched, "there is no plan "+workflowID
	case errors.Is(err, ErrSignalRefused):
		e.ack, e.reason = wire.AckRefused, err.Error()
	default:
		return wire.EventAck{}, fmt.Errorf("signal plan %s: %w", workflowID, err)
	}
	return s.stray(ctx, e)
}
