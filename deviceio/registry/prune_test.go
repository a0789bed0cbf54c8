package registry_test

import (
	"fmt"
	"testing"

	"errand/deviceio/registry"
)

// A device that floods, or restarts for ever, does not fill the disk: the newest is kept, and what is old is forgotten.
func TestPruneForgetsOldStrays(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	keep := func(id string) {
		_, err := r.KeepStray(t.Context(), registry.StrayEvent{DeviceID: "robot", EventID: id, BodyHash: "h", Ack: "late", Body: []byte("{}")})
		must(t, err)
	}
	keep("old")
	c.pass(registry.StrayFor / 2)
	keep("recent")
	must(t, r.Prune(t.Context()))
	if all, err := r.StrayEvents(t.Context(), "robot", 10); err != nil || len(all) != 2 {
		t.Errorf("within the bounds %d events are left (%v), want both", len(all), err)
	}
	c.pass(registry.StrayFor / 2)
	must(t, r.Prune(t.Context()))
	if all, err := r.StrayEvents(t.Context(), "robot", 10); err != nil || len(all) != 1 || all[0].EventID != "recent" {
		t.Errorf("events left: %+v (%v), want the recent one", all, err)
	}
}

func TestPruneKeepsTheNewestBootsAndTheGatewaysInUse(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	var boots []string
	for i := range registry.BootsPerDevice + 10 {
		boots = append(boots, fmt.Sprint("b", i))
	}
	before, err := r.Boots(t.Context(), "robot", boots)
	must(t, err)
	must(t, r.AddGateway(t.Context(), "gw-2", "deviceio@gw-2", ttl))
	connect(t, r, "gw-1")
	c.pass(registry.GatewayFor + ttl)
	must(t, r.Prune(t.Context()))
	if _, ok, err := r.BootEpoch(t.Context(), "robot", "b9"); err != nil || ok {
		t.Errorf("the tenth boot is kept: %v (%v)", ok, err)
	}
	if epoch, ok, err := r.BootEpoch(t.Context(), "robot", "b10"); err != nil || !ok || epoch != before["b10"] {
		t.Errorf("a boot within the bound: %d, %v (%v), want its epoch %d", epoch, ok, err, before["b10"])
	}
	if _, err := r.Connect(t.Context(), registry.Connection{DeviceID: "robot", GatewayID: "gw-2"}, ttl); err == nil {
		t.Error("a gateway that ended long ago, and that was nobody's, is kept")
	}
	if _, err := r.Connect(t.Context(), registry.Connection{DeviceID: "robot", GatewayID: "gw-1"}, ttl); err != nil {
		t.Errorf("the gateway of a device's last connection: %v", err)
	}
}
