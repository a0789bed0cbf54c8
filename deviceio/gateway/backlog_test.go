package gateway

import (
	"encoding/json"
	"testing"

	"errand/deviceio/wire"
)

// Events that wait are bounded by what they weigh, and not only by their number; one by itself may weigh what a frame may.
func TestEventsInHandAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	s := &session{idle: make(chan struct{}, 1)}
	small, large := wire.Frame{Params: make(json.RawMessage, 1000)}, wire.Frame{Params: make(json.RawMessage, wire.MaxPayload)}
	if !s.hold(large) {
		t.Error("an event alone was turned back, and could never be refused on record")
	}
	if s.hold(small) {
		t.Error("more was taken behind it")
	}
	s.done(large)
	for range 2 {
		if !s.hold(small) {
			t.Error("a small event was turned back")
		}
	}
	if s.hold(wire.Frame{Params: make(json.RawMessage, eventBytes)}) {
		t.Error("more than the bound was taken")
	}
}
