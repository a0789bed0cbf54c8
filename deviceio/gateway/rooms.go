package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"errand/catalog"
	"errand/catalog/fresh"
	"errand/deviceio/wire"
)

// planningContext reads the device's context and keeps its room catalog: the only source of room names (seed hop 2).
func (s *session) planningContext(ctx context.Context) (map[string]any, error) {
	if !s.mayAsk(ctx, wire.CommandContext) {
		return nil, &DeviceError{Command: wire.CommandContext, Code: wire.InvokeUnknownCommand, Message: s.lacks(wire.CommandContext)}
	}
	raw, err := s.invoke(ctx, wire.CommandContext, json.RawMessage(`{}`))
	if err != nil {
		return nil, err
	}
	seen, err := wire.ParseDeviceContext(raw)
	if err != nil {
		return nil, unreadable(wire.CommandContext, err)
	}
	now := s.g.opts.Now()
	seen = fresh.Receive(seen, now.UnixMilli())
	s.keepRooms(ctx, seen)
	s.keepSources(ctx, seen, now)
	return seen, nil
}

// sourcesEvery is how often at most the freshness of one device's sources is recorded: it is for people alone.
const sourcesEvery = 10 * time.Second

func (s *session) keepSources(ctx context.Context, seen map[string]any, now time.Time) {
	s.mu.Lock()
	due := now.Sub(s.sourcesAt) >= sourcesEvery
	if due {
		s.sourcesAt = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if err := s.g.opts.Registry.SetSources(ctx, s.deviceID, seen, now); err != nil {
		s.log.Warn("the freshness of its sources could not be recorded", "error", err)
	}
}

// keepRooms records the room catalog when it is new. Contexts are read often, and the registry writes to disk.
func (s *session) keepRooms(ctx context.Context, seen map[string]any) {
	rooms, ok := roomsOf(fresh.AsTold(seen, s.g.opts.Now().UnixMilli())) // a stale map names no rooms (law 17)
	s.mu.Lock()
	known := s.roomsRead && slices.Equal(s.rooms, rooms)
	s.mu.Unlock()
	if !ok || known {
		return
	}
	if err := s.g.opts.Registry.SetRooms(ctx, s.deviceID, rooms, s.g.opts.Now()); err != nil {
		s.log.Warn("the room catalog could not be recorded", "error", err)
		return
	}
	s.mu.Lock()
	s.rooms, s.roomsRead = rooms, true
	s.mu.Unlock()
}

// roomsOf finds the room catalog of a context; ok is false where the map is not available.
func roomsOf(seen map[string]any) (rooms []catalog.Room, ok bool) {
	area, _ := seen["map"].(map[string]any)
	list, ok := area["rooms"].([]any)
	if !ok || area["available"] == false {
		return nil, false
	}
	for _, item := range list {
		room, _ := item.(map[string]any)
		id, _ := room["id"].(string)
		name, _ := room["name"].(string)
		if id != "" && name != "" {
			rooms = append(rooms, catalog.Room{ID: id, Name: name})
		}
	}
	return rooms, true
}

// readRooms asks a device that just connected for its room catalog, in the background: the first words about a room may
// come before any plan asked for the context.
func (s *session) readRooms() {
	if !s.offers(wire.CommandContext) {
		return
	}
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		_, err := s.planningContext(s.ctx)
		if err == nil || s.ctx.Err() != nil {
			return
		}
		s.log.Warn("the room catalog could not be read: trying again", "in", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
	}
}
