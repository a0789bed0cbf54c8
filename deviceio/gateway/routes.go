package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// deviceRoute is a route for a device that showed its token. A problem is the answer, if there is one.
type deviceRoute func(w http.ResponseWriter, r *http.Request, d registry.Device) *problem

// routes adds what a device without a socket uses. See docs/http-devices.md.
//
//	POST /v1/challenge                   a challenge to sign
//	POST /v1/connect                     the signed connect: pairs the device and answers its token
//	POST /v1/task-events                 events in order, each acknowledged
//	POST /v1/observations                the same for what it saw
//	GET  /v1/devices/{id}/requests       waits for commands
//	POST /v1/devices/{id}/responses      answers them
func (g *Gateway) routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/challenge", g.challenge)
	mux.HandleFunc("POST /v1/connect", func(w http.ResponseWriter, r *http.Request) {
		if p := g.connect(w, r); p != nil {
			p.write(w)
		}
	})
	mux.Handle("POST /v1/task-events", g.device(g.batch(wire.NodeTaskEvent)))
	mux.Handle("POST /v1/observations", g.device(g.batch(wire.NodeObservation)))
	mux.Handle("GET /v1/devices/{id}/requests", g.device(g.requests))
	mux.Handle("POST /v1/devices/{id}/responses", g.device(g.responses))
}

// device finds out who asks, by its token alone. Where the path names a device, it must be that one.
func (g *Gateway) device(route deviceRoute) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, p := g.whoAsks(r)
		if p == nil {
			p = route(w, r, d)
		}
		if p != nil {
			p.write(w)
		}
	})
}

func (g *Gateway) whoAsks(r *http.Request) (registry.Device, *problem) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	id, ok, err := g.opts.Registry.TokenOwner(r.Context(), token)
	if err != nil {
		return registry.Device{}, g.registryDown("check a token", "", err)
	}
	if !ok {
		return registry.Device{}, newProblem(http.StatusUnauthorized, wire.DetailDeviceTokenMismatch,
			"a device's token is needed: Authorization: Bearer <device token>; POST /v1/connect gives one")
	}
	if named := r.PathValue("id"); named != "" && named != id {
		return registry.Device{}, newProblem(http.StatusForbidden, "foreign_device", "the token is that of another device than the path names")
	}
	d, err := g.opts.Registry.Device(r.Context(), id)
	switch {
	case errors.Is(err, registry.ErrNoDevice):
		return d, newProblem(http.StatusUnauthorized, wire.DetailDeviceTokenMismatch, "the token is that of a device that is no more")
	case err != nil:
		return d, g.registryDown("find a device", id, err)
	case d.State != registry.Approved:
		return d, newProblem(http.StatusForbidden, detailRevoked, "this device is "+string(d.State)+": a person must approve it")
	}
	return d, nil
}

// registryDown is the answer for now, since the registry does not give one.
func (g *Gateway) registryDown(what, deviceID string, err error) *problem {
	g.log.Error("the registry does not answer", "to", what, "device", deviceID, "error", err)
	return later(http.StatusServiceUnavailable, detailUnavailable, "the registry does not answer: try again", restartExpected*time.Millisecond)
}

// readBody reads a body of at most so many bytes, and then lifts the deadline that the reading had: net/http would take it for the
// caller's going away in the middle of the answer.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, *problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most+1)) // one more, so that the parser can say it is too large
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, newProblem(http.StatusRequestEntityTooLarge, "too_large", "the body is too large: send less at once")
	}
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "unreadable", "the body could not be read: "+err.Error())
	}
	return body, patient(w)
}

// patient lifts the deadline of reading a request.
func patient(w http.ResponseWriter) *problem {
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return newProblem(http.StatusBadRequest, "gone", "the connection is gone: "+err.Error())
	}
	return nil
}
