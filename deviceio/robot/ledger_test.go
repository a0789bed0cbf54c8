package robot

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// The law of the world: effect, terminal state, stored event and world are one transaction. Whichever of them the disk
// refuses, none of them is there; the robot stops instead of saying what it could forget, and its next life does it once.
func TestLawOfTheLedgerAllOrNothing(t *testing.T) {
	t.Parallel()
	for table, refuses := range map[string]string{
		"effects": `BEFORE INSERT ON effects`,
		"events":  `BEFORE INSERT ON events WHEN new.event_name = 'COMPLETED'`,
		"tasks":   `BEFORE UPDATE ON tasks WHEN new.state = 'COMPLETED'`,
		"world":   `BEFORE UPDATE ON world WHEN EXISTS (SELECT 1 FROM effects)`,
		"motions": `BEFORE UPDATE ON motions WHEN new.completed`,
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.accept(moveTo("p/x/1", "안방"))
			b.pass(time.Second)
			if err := exec(t.Context(), b.store.db, `CREATE TRIGGER broken_disk `+refuses+` BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END`); err != nil {
				t.Fatal(err)
			}
			var err error
			for range 1000 {
				b.clock.pass(50 * time.Millisecond)
				if err = b.Tick(t.Context()); err != nil {
					break
				}
			}
			if !errors.Is(err, ErrBroken) {
				t.Fatalf("the disk broke, and the robot: %v", err)
			}
			if _, err := b.Submit(t.Context(), moveTo("p/y/1", "부엌")); !errors.Is(err, ErrBroken) {
				t.Fatalf("a broken robot answers a submit: %v", err)
			}
			b.wantEffects("p/x/1", 0)
			if e := b.box.last("p/x/1", "COMPLETED"); e != nil {
				t.Fatalf("it told %v", e)
			}
			if err := exec(t.Context(), b.store.db, `DROP TRIGGER broken_disk`); err != nil {
				t.Fatal(err)
			}
			b.cut()
			if s := b.status("p/x/1"); s.Status != "RUNNING" {
				t.Fatalf("after the restart: %+v", s)
			}
			b.until("p/x/1", "COMPLETED")
			b.wantEffects("p/x/1", 1)
		})
	}
}

// The ledger must be able to show a doubled effect: nothing in the store forbids one.
func TestLedgerCanShowADoubledEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/x/1", "안방"))
	b.until("p/x/1", "COMPLETED")
	const again = `INSERT INTO effects (operation_id, task_method, kind, room_id, at, boot_id, world_revision)
		SELECT operation_id, task_method, kind, room_id, at + 1, boot_id, world_revision + 1 FROM effects`
	if err := exec(t.Context(), b.store.db, again); err != nil {
		t.Fatal(err)
	}
	b.wantEffects("p/x/1", 2)
}

func TestReadLedgerOfNobody(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if effects, err := ReadLedger(path); err == nil {
			t.Errorf("%s: %v without an error", path, effects)
		}
	}
}
