package registry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"errand/deviceio/registry"
)

// Law 8: order is the device's boot epoch and sequence, so epochs follow the device's own order of its boots.
func TestLaw08EpochsFollowTheDeclaredOrder(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	first, err := r.Boots(t.Context(), "robot", []string{"b1", "b2", "b3"})
	must(t, err)
	if first["b1"] >= first["b2"] || first["b2"] >= first["b3"] {
		t.Fatalf("epochs %v do not grow in the listed order", first)
	}
	later, err := r.Boots(t.Context(), "robot", []string{"b2", "b3", "b4"})
	must(t, err)
	if later["b2"] != first["b2"] || later["b3"] != first["b3"] || later["b4"] <= first["b3"] {
		t.Fatalf("epochs %v, before %v: old ones must stay, new ones must be higher", later, first)
	}
	epoch, ok, err := r.BootEpoch(t.Context(), "robot", "b1")
	if err != nil || !ok || epoch != first["b1"] {
		t.Errorf("BootEpoch(b1) = %d, %v, %v", epoch, ok, err)
	}
	if _, ok, err := r.BootEpoch(t.Context(), "robot", "never"); ok || err != nil {
		t.Errorf("an unlisted boot has an epoch (%v, %v)", ok, err)
	}
}

func TestLaw08AContradictingBootsListIsRefused(t *testing.T) {
	t.Parallel()
	for name, boots := range map[string][]string{
		"swapped":             {"b2", "b1", "b3"},
		"new before old":      {"b1", "new", "b3"},
		"an older one is now": {"b1", "b2"},
		"twice":               {"b3", "b4", "b4"},
		"nameless":            {"b3", ""},
		"empty":               {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newRegistry(t)
			_, err := r.Boots(t.Context(), "robot", []string{"b1", "b2", "b3"})
			must(t, err)
			_, err = r.Boots(t.Context(), "robot", boots)
			var order *registry.BootOrderError
			if !errors.Is(err, registry.ErrBootOrder) || !errors.As(err, &order) || order.DeviceID != "robot" {
				t.Fatalf("Boots(%q) = %v, want a *BootOrderError", boots, err)
			}
			if _, ok, _ := r.BootEpoch(t.Context(), "robot", "new"); ok {
				t.Error("a refused list left an epoch behind")
			}
		})
	}
}

// Whatever windows of its history a device lists, an epoch once given stays, and a later boot's is higher.
func TestLaw08EpochProperties(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := openAt(t, newPlace(t), c)
	device := 0
	rapid.Check(t, func(rt *rapid.T) {
		device++
		id := fmt.Sprintf("device-%d", device)
		if err := declare(context.Background(), r, id); err != nil {
			rt.Fatal(err)
		}
		given := map[string]int64{}
		current := 0
		for range rapid.IntRange(1, 6).Draw(rt, "connects") {
			current += rapid.IntRange(0, 3).Draw(rt, "reboots")
			c.pass(time.Duration(rapid.IntRange(-2000, 2000).Draw(rt, "ms")) * time.Millisecond)
			oldest := rapid.IntRange(0, current).Draw(rt, "oldest")
			if oldest > len(given) { // a boot that was never listed cannot come before one that was
				oldest = len(given)
			}
			epochs, err := r.Boots(context.Background(), id, bootNames(oldest, current))
			if err != nil {
				rt.Fatalf("Boots: %v", err)
			}
			for boot, epoch := range epochs {
				if before, ok := given[boot]; ok && before != epoch {
					rt.Fatalf("epoch of %s changed from %d to %d", boot, before, epoch)
				}
				given[boot] = epoch
			}
			ordered := slices.Sorted(maps.Keys(given))
			if !slices.IsSortedFunc(ordered, func(a, b string) int { return int(given[a] - given[b]) }) {
				rt.Fatalf("epochs %v are not in the order of boots", given)
			}
		}
	})
}

func bootNames(from, to int) (names []string) {
	for i := from; i <= to; i++ {
		names = append(names, fmt.Sprintf("boot-%03d", i))
	}
	return names
}

// A registry lost and made anew must not give an old number to something new: the plans in flight would take the new
// boot's events for ones they have seen.
func TestLaw07ALostRegistryGivesNoOldEpochs(t *testing.T) {
	t.Parallel()
	c := newClock()
	lost := openAt(t, newPlace(t), c)
	addRobot(t, lost)
	old, err := lost.Boots(t.Context(), "robot", []string{"b1", "b2"})
	must(t, err)
	oldConnection := connect(t, lost, "gw-1")
	c.pass(time.Minute)
	fresh := openAt(t, newPlace(t), c)
	addRobot(t, fresh)
	now, err := fresh.Boots(t.Context(), "robot", []string{"b3"})
	must(t, err)
	if now["b3"] <= old["b2"] {
		t.Errorf("boot epoch %d after %d", now["b3"], old["b2"])
	}
	if epoch := connect(t, fresh, "gw-1"); epoch <= oldConnection {
		t.Errorf("connection epoch %d after %d", epoch, oldConnection)
	}
}
