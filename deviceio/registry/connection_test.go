package registry_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"errand/deviceio/registry"
	"errand/plan"
)

func TestRouteNeedsBothLeases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *registry.Registry, *clock, int64)
		want   bool
	}{
		"connected":                {func(*testing.T, *registry.Registry, *clock, int64) {}, true},
		"its lease ran out":        {func(_ *testing.T, _ *registry.Registry, c *clock, _ int64) { c.pass(ttl) }, false},
		"renewed by the heartbeat": {renewed, true},
		"the gateway is gone": {func(t *testing.T, r *registry.Registry, _ *clock, _ int64) {
			must(t, r.EndGateway(t.Context(), "gw-1"))
		}, false},
		"only the gateway renewed": {func(t *testing.T, r *registry.Registry, c *clock, _ int64) {
			c.pass(ttl - time.Second)
			must(t, r.AddGateway(t.Context(), "gw-1", "deviceio@gw-1", ttl))
			c.pass(time.Second)
		}, false},
		"disconnected": {func(t *testing.T, r *registry.Registry, _ *clock, epoch int64) {
			must(t, r.Disconnect(t.Context(), "robot", epoch))
		}, false},
		"revoked": {func(t *testing.T, r *registry.Registry, _ *clock, _ int64) {
			must(t, r.Revoke(t.Context(), "robot"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, clock := newRegistry(t)
			epoch := connect(t, r, "gw-1")
			c.change(t, r, clock, epoch)
			route, ok, err := r.Route(t.Context(), "robot")
			must(t, err)
			want := plan.Route{GatewayID: "gw-1", TaskQueue: "deviceio@gw-1", ConnectionEpoch: epoch, BootEpoch: 7,
				StoreID: "store-1", RetentionMs: 86_400_000, Profile: plan.Profile{Status: true, Dedupe: true, Outbox: true}}
			if ok != c.want || (ok && route != want) {
				t.Errorf("Route = %+v, %v, want %v %+v", route, ok, c.want, want)
			}
			device, err := r.Device(t.Context(), "robot")
			if err != nil || device.Online != c.want {
				t.Errorf("Online = %v (%v), want %v", device.Online, err, c.want)
			}
		})
	}
}

func renewed(t *testing.T, r *registry.Registry, c *clock, epoch int64) {
	t.Helper()
	c.pass(ttl - time.Second)
	lost, err := r.Heartbeat(t.Context(), "gw-1", map[string]int64{"robot": epoch}, ttl)
	if err != nil || len(lost) != 0 {
		t.Fatalf("Heartbeat = %v, %v", lost, err)
	}
	c.pass(time.Second)
}

func TestRouteOfAnUnknownDeviceIsNone(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	if route, ok, err := r.Route(t.Context(), "nobody"); ok || err != nil {
		t.Errorf("Route = %+v, %v, %v", route, ok, err)
	}
}

// Fencing: the holder of an old epoch can neither renew nor clear the newer connection.
func TestAnOldEpochIsFenced(t *testing.T) {
	t.Parallel()
	c := newClock()
	path := newPlace(t)
	one, two := openAt(t, path, c), openAt(t, path, c)
	addRobot(t, one)
	must(t, two.AddGateway(t.Context(), "gw-2", "deviceio@gw-2", ttl))
	old, fresh := connect(t, one, "gw-1"), connect(t, two, "gw-2")
	if fresh <= old {
		t.Fatalf("epoch %d after %d", fresh, old)
	}
	lost, err := one.Heartbeat(t.Context(), "gw-1", map[string]int64{"robot": old}, time.Hour)
	if err != nil || !slices.Equal(lost, []string{"robot"}) {
		t.Errorf("Heartbeat = %v, %v, want the device named as lost", lost, err)
	}
	if err := one.Disconnect(t.Context(), "robot", old); !errors.Is(err, registry.ErrFenced) {
		t.Errorf("Disconnect = %v, want ErrFenced", err)
	}
	route, ok, err := one.Route(t.Context(), "robot")
	if err != nil || !ok || route.ConnectionEpoch != fresh || route.GatewayID != "gw-2" {
		t.Errorf("Route = %+v, %v, %v: the newer connection must stay", route, ok, err)
	}
	c.pass(ttl)
	if _, ok, _ := one.Route(t.Context(), "robot"); ok {
		t.Error("the fenced heartbeat extended the newer lease")
	}
}

func TestHeartbeatNamesARevokedDevice(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	epoch := connect(t, r, "gw-1")
	must(t, r.Revoke(t.Context(), "robot"))
	lost, err := r.Heartbeat(t.Context(), "gw-1", map[string]int64{"robot": epoch}, ttl)
	if err != nil || !slices.Equal(lost, []string{"robot"}) {
		t.Errorf("Heartbeat = %v, %v", lost, err)
	}
}

func TestEpochsGrowAcrossDisconnectsAndAgainstTheClock(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	first := connect(t, r, "gw-1")
	must(t, r.Disconnect(t.Context(), "robot", first))
	c.pass(-time.Hour)
	if second := connect(t, r, "gw-1"); second != first+1 {
		t.Errorf("epoch %d after %d with the clock put back", second, first)
	}
}

// A plain node declares no boots: each connection is a boot of its own.
func TestAPlainNodesBootIsItsConnection(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	epoch, err := r.Connect(t.Context(), registry.Connection{DeviceID: "robot", GatewayID: "gw-1"}, ttl)
	must(t, err)
	if route, _, err := r.Route(t.Context(), "robot"); err != nil || route.BootEpoch != epoch {
		t.Errorf("boot epoch %d (%v), want the connection's %d", route.BootEpoch, err, epoch)
	}
}

func TestConnectNeedsAKnownGatewayAndDevice(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	for _, c := range []registry.Connection{{DeviceID: "nobody", GatewayID: "gw-1"}, {DeviceID: "robot", GatewayID: "gw-9"}} {
		if _, err := r.Connect(t.Context(), c, ttl); err == nil {
			t.Errorf("Connect(%+v) succeeded", c)
		}
	}
}

func TestConcurrentConnectsGetDistinctEpochs(t *testing.T) {
	t.Parallel()
	c := newClock()
	path := newPlace(t)
	handles := []*registry.Registry{openAt(t, path, c), openAt(t, path, c)}
	addRobot(t, handles[0])
	var mu sync.Mutex
	epochs := map[int64]bool{}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			epoch, err := handles[i%2].Connect(t.Context(), registry.Connection{DeviceID: "robot", GatewayID: "gw-1"}, ttl)
			if err != nil {
				t.Errorf("Connect: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			epochs[epoch] = true
		})
	}
	all.Wait()
	if len(epochs) != 20 {
		t.Errorf("20 connections got %d epochs", len(epochs))
	}
}

// Connections that come at once share what they wait for, and nothing else: one that cannot be recorded harms no other.
func TestConnectionsAtOnceDoNotHarmEachOther(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	var all sync.WaitGroup
	for i := range 40 {
		device := "robot"
		if i%4 == 0 {
			device = "nobody"
		}
		all.Go(func() {
			epoch, err := r.Connect(t.Context(), registry.Connection{DeviceID: device, GatewayID: "gw-1"}, ttl)
			if known := device == "robot"; known != (err == nil) || known != (epoch > 0) {
				t.Errorf("Connect(%s) = %d, %v", device, epoch, err)
			}
		})
	}
	all.Wait()
	if _, ok, err := r.Route(t.Context(), "robot"); err != nil || !ok {
		t.Errorf("no route to the device that connected: %v", err)
	}
}
