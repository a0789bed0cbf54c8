package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// maxWait bounds a long poll, and defaultWait is how long one waits that does not say.
const (
	maxWait     = 60 * time.Second
	defaultWait = 30 * time.Second
)

// polls is the sessions of the devices that ask for their commands over HTTP: each is a connection like any other, which ends when the
// device has not asked for a while.
type polls struct {
	mu       sync.Mutex
	byDevice map[string]*poller
}

// poller is one such session.
type poller struct {
	*session
	box *mailbox

	mu      sync.Mutex
	asking  int                // requests of the device that wait now
	ended   *time.Timer        // runs while none does
	another context.CancelFunc // ends the request before: the latest gets what there is
}

// requests answers GET /v1/devices/{id}/requests?wait=30s.
func (g *Gateway) requests(w http.ResponseWriter, r *http.Request, d registry.Device) *problem {
	wait, bad := waitOf(r.URL.Query().Get("wait"))
	if bad != nil {
		return bad
	}
	if bad := patient(w); bad != nil {
		return bad
	}
	p, bad := g.poller(r.Context(), d)
	if bad != nil {
		return bad
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	leave := p.ask(cancel)
	letters := p.box.collect(ctx)
	leave()
	answer := wire.Requests{Tasks: []wire.Request{}, Workflows: []wire.Request{}, Others: []wire.Request{}}
	for _, l := range letters {
		if q, ok := p.told(l); ok {
			answer.Add(q)
		}
	}
	writeJSON(w, http.StatusOK, "application/json", answer)
	return nil
}

// waitOf reads how long a poll may wait: a duration such as 30s, or whole seconds.
func waitOf(text string) (time.Duration, *problem) {
	if text == "" {
		return defaultWait, nil
	}
	wait, err := time.ParseDuration(text)
	if seconds, notNumber := strconv.Atoi(text); notNumber == nil {
		wait, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || wait < 0 || wait > maxWait {
		return 0, newProblem(http.StatusUnprocessableEntity, "bad_parameter", fmt.Sprintf("wait: must be a duration from 0s to %s, such as 30s", maxWait))
	}
	return wait, nil
}

// poller returns the device's session, and opens one if it has none or came up anew since.
func (g *Gateway) poller(ctx context.Context, d registry.Device) (*poller, *problem) {
	bootID, bootEpoch, err := g.opts.Registry.CurrentBoot(ctx, d.ID)
	if err != nil {
		return nil, g.registryDown("find the boot of a device", d.ID, err)
	}
	g.polls.mu.Lock()
	defer g.polls.mu.Unlock()
	if p := g.polls.byDevice[d.ID]; p != nil && p.ctx.Err() == nil {
		if p.bootID == bootID {
			return p, nil
		}
		p.finish("the device came up anew")
	}
	if !g.enter() {
		return nil, later(http.StatusServiceUnavailable, detailDraining, "the gateway is shutting down: try again", restartExpected*time.Millisecond)
	}
	p, failed := g.openPoller(ctx, d, registry.Connection{DeviceID: d.ID, GatewayID: g.id, BootID: bootID, BootEpoch: bootEpoch})
	if failed != nil {
		g.sockets.Done()
		return nil, failed
	}
	if g.polls.byDevice == nil {
		g.polls.byDevice = make(map[string]*poller)
	}
	g.polls.byDevice[d.ID] = p
	go p.live()
	return p, nil
}

// openPoller records the device's connection and puts it in the place of the one before, be that a socket or not.
func (g *Gateway) openPoller(ctx context.Context, d registry.Device, c registry.Connection) (*poller, *problem) {
	declared := wire.Connect{Device: wire.DeviceIdentity{ID: d.ID}, Client: wire.Client{DisplayName: d.DisplayName}, Commands: d.Commands, Permissions: d.Permissions}
	if c.BootID != "" {
		declared.Errand = &wire.Errand{Profile: wire.Profile(d.Profile), Boots: []string{c.BootID}, StoreID: d.StoreID, RetentionS: d.RetentionMs / 1000}
	}
	box := newMailbox(g.opts.TellAgain, g.opts.Now)
	s := newSession(g, box, declared)
	s.approve(d.ApprovedCommands)
	var err error
	if s.epoch, err = g.opts.Registry.Connect(ctx, c, g.opts.LeaseTTL); err != nil {
		return nil, g.registryDown("record a connection", d.ID, err)
	}
	s.bootID, s.bootEpoch = c.BootID, c.BootEpoch
	if c.BootID == "" {
		s.bootEpoch = s.epoch
	}
	s.log = s.log.With("epoch", s.epoch, "line", "http")
	if !g.place(s) {
		return nil, later(http.StatusServiceUnavailable, detailDraining, "the gateway is shutting down, or a newer connection of this device was quicker", time.Second)
	}
	p := &poller{session: s, box: box}
	p.ended = time.AfterFunc(g.opts.PollGrace, func() { p.finish("the device asks no more") })
	s.announce()
	return p, nil
}

// live lasts as long as the session does.
func (p *poller) live() {
	defer p.g.sockets.Done()
	var all sync.WaitGroup
	all.Go(p.readRooms)
	<-p.ctx.Done()
	p.ended.Stop()
	p.log.Info("disconnected")
	p.release()
	p.g.polls.mu.Lock()
	if p.g.polls.byDevice[p.deviceID] == p {
		delete(p.g.polls.byDevice, p.deviceID)
	}
	p.g.polls.mu.Unlock()
	all.Wait()
}

func (p *poller) finish(why string) { p.end(closeUnreachable, why) }

// ask counts a request of the device in, and lets the one before go with nothing. leave counts it out: with the last one, the time runs
// within which the device must ask again.
func (p *poller) ask(cancel context.CancelFunc) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.another != nil {
		p.another()
	}
	p.another = cancel
	p.asking++
	p.ended.Stop()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asking--; p.asking == 0 {
			p.ended.Reset(p.g.opts.PollGrace)
		}
	}
}

// told is a command as the answer has it; ok is false for one that nobody waits for any more, or that is too old.
func (p *poller) told(l letter) (q wire.Request, ok bool) {
	now := p.g.opts.Now()
	params, fresh := l.params(now)
	left := l.request.TimeoutMs - now.Sub(l.since).Milliseconds()
	return wire.Request{RequestID: l.request.ID, Command: l.request.Command, Params: params, TimeoutMs: left}, fresh && left > 0
}

// responses answers POST /v1/devices/{id}/responses.
func (g *Gateway) responses(w http.ResponseWriter, r *http.Request, d registry.Device) *problem {
	body, bad := readBody(w, r, wire.MaxPayload)
	if bad != nil {
		return bad
	}
	results, err := wire.ParseResponses(body)
	if err != nil {
		return badDocument(err)
	}
	g.polls.mu.Lock()
	p := g.polls.byDevice[d.ID]
	g.polls.mu.Unlock()
	type taken struct {
		RequestID string `json:"request_id"`
		Ignored   bool   `json:"ignored,omitempty"`
	}
	answer := struct {
		Responses []taken `json:"responses"`
	}{}
	s := newSession(g, nil, wire.Connect{Device: wire.DeviceIdentity{ID: d.ID}})
	defer s.cancel(nil)
	for _, result := range results {
		awaited := p != nil && p.deliver(result)
		if awaited {
			p.acknowledged() // with the answer to this request
		}
		if p != nil {
			p.box.remove(result.ID)
		}
		if !awaited {
			if err := s.unawaited(r.Context(), result, result.Body()); err != nil {
				return g.registryDown("record a response that nobody waits for", d.ID, err)
			}
		}
		answer.Responses = append(answer.Responses, taken{RequestID: result.ID, Ignored: !awaited})
	}
	writeJSON(w, http.StatusOK, "application/json", answer)
	return nil
}
