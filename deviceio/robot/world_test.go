package robot

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// However the clock's ticks cut it, the same time makes the same world.
func TestPhysicsDependsOnTimeNotOnTicks(t *testing.T) {
	t.Parallel()
	worlds := map[time.Duration]World{}
	for _, tick := range []time.Duration{20 * time.Millisecond, 70 * time.Millisecond, time.Second} {
		b := newBench(t)
		b.accept(moveTo("p/x/1", "안방"))
		if err := b.Tick(t.Context()); err != nil { // it starts
			t.Fatal(err)
		}
		for left := 7 * time.Second; left > 0; left -= tick {
			b.clock.pass(tick)
			if err := b.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w := b.World()
		w.MovedAt, w.Sources, w.Sensed = 0, nil, Sensed{} // the clock's, not the world's
		worlds[tick] = w
	}
	for tick, w := range worlds {
		if !reflect.DeepEqual(w, worlds[time.Second]) {
			t.Errorf("ticks of %v: %+v\nticks of 1s: %+v", tick, w, worlds[time.Second])
		}
	}
}

func TestDrivingTakesTimeByDistance(t *testing.T) {
	t.Parallel()
	for room, metres := range map[string]float64{"부엌": 3.5, "서재": 3.905} {
		b := newBench(t)
		b.accept(moveTo("p/x/1", room))
		b.until("p/x/1", "COMPLETED")
		took := time.Duration(b.World().ElapsedMs) * time.Millisecond
		want := time.Duration(metres / b.home.DriveSpeed * float64(time.Second))
		if took < want || took > want+500*time.Millisecond {
			t.Errorf("%s: %v, want about %v", room, took, want)
		}
	}
}

func TestSpeedScalesTheWorldAndNotThePromises(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Speed = 20 })
	spec := moveTo("p/x/1", "안방")
	spec.TimeoutMs = 1_500 // of the clock: 14 s of driving take 0.7 s of it
	b.accept(spec)
	b.until("p/x/1", "COMPLETED")
	if took := b.clock.Now().Sub(benchStart); took > 1500*time.Millisecond {
		t.Fatalf("it took %v of the clock", took)
	}
	b.fault(Fault{Kind: FaultHold})
	spec = moveTo("p/y/1", "부엌")
	spec.TimeoutMs = 1_500
	b.accept(spec)
	began := b.clock.Now()
	b.until("p/y/1", "TIMED_OUT")
	if took := b.clock.Now().Sub(began); took < 1500*time.Millisecond || took > 1700*time.Millisecond {
		t.Fatalf("timed out after %v of the clock", took)
	}
}

func TestAirBatteryAndStation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.World()
	b.pass(10 * time.Minute)
	after := b.World()
	if after.Air["6"].PM25 <= before.Air["6"].PM25 || after.Battery <= before.Battery {
		t.Fatalf("idle on the station: air %v → %v, battery %v → %v", before.Air["6"].PM25, after.Air["6"].PM25, before.Battery, after.Battery)
	}
	b.accept(moveTo("p/x/1", "안방"))
	b.until("p/x/1", "COMPLETED")
	if w := b.World(); w.Docked || w.Battery >= after.Battery {
		t.Fatalf("driving: docked %v, battery %v → %v", w.Docked, after.Battery, w.Battery)
	}
}

// A clock that is set back, or a process that was stopped, does not make the world jump.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.pass(time.Second)
	for _, jump := range []time.Duration{-time.Hour, 24 * time.Hour} {
		before := b.World().ElapsedMs
		b.clock.pass(jump)
		if err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if passed := b.World().ElapsedMs - before; passed < 0 || passed > maxLapse.Milliseconds() {
			t.Errorf("a jump of %v let %d ms pass", jump, passed)
		}
	}
}

func TestHomeFile(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "home.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h, err := LoadHome(write("rooms:\n  - {id: a, name: 방, x: 1}\n  - {id: b, name: 창고, no_entry: true}\nstation: b\ndrive_speed: 1.5\n"))
	if err != nil || h.Station != "b" || h.DriveSpeed != 1.5 || h.BrakeSeconds != 0.6 || !h.Rooms[1].NoEntry {
		t.Fatalf("%+v, %v", h, err)
	}
	if h, err := LoadHome(write(`{"rooms": [{"id": "a", "name": "방"}]}`)); err != nil || h.Station != "a" {
		t.Fatalf("JSON: %+v, %v", h, err)
	}
	for text, want := range map[string]string{
		"rooms: []": "rooms: list at least one",
		"rooms: [{id: a, name: x}, {id: a, name: y}]":  `rooms[1].id: "a" is used twice`,
		"rooms: [{id: a}]":                             "rooms[0]: give it an id and a name",
		"rooms: [{id: a, name: x}]\nstation: z":        `station: "z" is not a room id`,
		"rooms: [{id: a, name: x}]\ndrive_speeed: 3":   "drive_speeed",
		"rooms: [{id: a, name: x}]\ndrive_speed: -3":   "must be positive",
		"rooms: [{id: a, name: x}]\nlow_battery: 1000": "levels go from 0 to 100",
	} {
		if _, err := LoadHome(write(text)); !errors.Is(err, ErrHome) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := LoadHome(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
