package registry_test

import (
	"errors"
	"testing"

	"errand/deviceio/registry"
)

// A stop stays until a person releases it. The same one told again changes nothing: not while it is in force, and not when it
// comes late, behind its release, or a lost acknowledgement would stop the device anew.
func TestAStopIsLatchedUntilItIsReleased(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	stopped := func(want string) {
		t.Helper()
		s, ok, err := r.StopOf(t.Context(), "robot")
		if err != nil || s.ID != want || ok != (want != "") {
			t.Errorf("StopOf = %+v, %v, %v; want %q", s, ok, err, want)
		}
		d, err := r.Device(t.Context(), "robot")
		if err != nil || (d.Stopped != nil) != ok || (ok && d.Stopped.ID != want) {
			t.Errorf("the device shows %+v (%v), want %q", d.Stopped, err, want)
		}
	}
	stopped("")
	byDevice := registry.Stop{DeviceID: "robot", ID: "b1-7", By: "device", Why: "button"}
	must(t, r.StopDevice(t.Context(), byDevice))
	must(t, r.StopDevice(t.Context(), byDevice))
	c.pass(ttl)
	must(t, r.StopDevice(t.Context(), registry.Stop{DeviceID: "robot", ID: "b1-8", By: "device"})) // it is stopped already
	must(t, r.StopDevice(t.Context(), registry.Stop{DeviceID: "robot", ID: "x", By: "mina"}))
	stopped("b1-7")
	if open, err := r.Stops(t.Context()); err != nil || len(open) != 2 || open[0].ID != "b1-7" || open[1].By != "mina" || !open[0].InForce() {
		t.Errorf("Stops = %+v, %v", open, err)
	}
	if n, err := r.Release(t.Context(), "robot", "mina"); err != nil || n != 2 {
		t.Errorf("Release = %d, %v", n, err)
	}
	must(t, r.StopDevice(t.Context(), byDevice))
	stopped("")
	if n, err := r.Release(t.Context(), "robot", "mina"); err != nil || n != 0 {
		t.Errorf("a second Release = %d, %v", n, err)
	}
}

// The plans must hear of a stop even when it was released before they could.
func TestAStopIsListedUntilItIsReleasedAndTold(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	s := registry.Stop{DeviceID: "robot", ID: "x", By: "mina"}
	left := func(want int) {
		t.Helper()
		if open, err := r.Stops(t.Context()); err != nil || len(open) != want {
			t.Errorf("Stops = %+v, %v; want %d", open, err, want)
		}
	}
	must(t, r.StopDevice(t.Context(), s))
	_, err := r.Release(t.Context(), "robot", "mina")
	must(t, err)
	left(1)
	must(t, r.StopTold(t.Context(), s))
	left(0)
	c.pass(registry.StopFor)
	must(t, r.Prune(t.Context()))
	must(t, r.StopDevice(t.Context(), s)) // forgotten, so that it counts as new
	left(1)
}

func TestAStopIsOfAKnownDevice(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	if err := r.StopDevice(t.Context(), registry.Stop{DeviceID: "nobody", ID: "x"}); !errors.Is(err, registry.ErrNoDevice) {
		t.Errorf("StopDevice = %v", err)
	}
}
