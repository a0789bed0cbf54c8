package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"errand/deviceio/wire"
)

// walk is a random history: what the cloud wants, what the vendor does, what is lost, who dies.
type walk struct {
	*bench
}

func (w *walk) draw(t *rapid.T) string {
	return rapid.SampledFrom([]string{"p/a/1", "p/a/2", "p/b/1", "p/c/1", "q/a/1", "q/a/2", "q/a/3"}).Draw(t, "operation")
}

// some picks one of the vendor's tasks that is not over, or nil.
func (w *walk) some(t *rapid.T) *vendorTask {
	var live []*vendorTask
	for _, vt := range w.vendor.tasks {
		if vt.life == w.vendor.life && !wire.Terminal(vt.state) {
			live = append(live, vt)
		}
	}
	if len(live) == 0 {
		return nil
	}
	return rapid.SampledFrom(live).Draw(t, "task")
}

func (w *walk) step(t *rapid.T) {
	switch rapid.SampledFrom([]string{"submit", "submit", "submit", "status", "cancel", "on", "on again", "again", "restart", "vendor restarts", "time"}).Draw(t, "step") {
	case "submit":
		w.vendor.loseSubmit = rapid.IntRange(0, 4).Draw(t, "answer is lost") == 0
		w.vendor.neverSent = rapid.IntRange(0, 6).Draw(t, "never sent") == 0
		w.vendor.speakFirst = rapid.IntRange(0, 4).Draw(t, "speaks first") == 0
		id := w.draw(t)
		a, err := w.submit(id)
		if err == nil && a.Accepted && len(w.vendor.of(id)) == 0 {
			t.Fatalf("%s is accepted, and the vendor has nothing of it", id)
		}
		w.vendor.loseSubmit, w.vendor.neverSent, w.vendor.speakFirst = false, false, false
	case "status":
		w.checkStatus(t, w.draw(t))
	case "cancel":
		if _, err := w.Cancel(w.ctx, wire.CancelQuery{OperationID: w.draw(t), Reason: "r"}); err != nil {
			t.Logf("cancel: %v", err)
		}
	case "on", "on again":
		w.moves(t)
	case "again":
		if len(w.vendor.tasks) > 0 { // of whatever life, over or not
			w.event(w.vendor.tell(rapid.SampledFrom(w.vendor.tasks).Draw(t, "told again")))
		}
	case "restart":
		w.restart()
	case "vendor restarts":
		w.vendor.life++
	case "time":
		w.pass(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
	}
}

// moves lets the vendor go on with a task; whether anybody hears of it, and how often, is chance.
func (w *walk) moves(t *rapid.T) {
	vt := w.some(t)
	if vt == nil {
		return
	}
	w.vendor.move(vt, rapid.SampledFrom([]string{wire.TaskStarted, wire.TaskRunning, wire.TaskBlocked, wire.TaskCompleted, wire.TaskFailed, wire.TaskCancelled}).Draw(t, "state"))
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "times told") {
		w.event(w.vendor.tell(vt))
	}
}

// checkStatus holds an answer against what the vendor did.
func (w *walk) checkStatus(t *rapid.T, id string) {
	a, err := w.status(id)
	if err != nil {
		return // not now
	}
	tasks := w.vendor.of(id)
	switch {
	case !a.Found && len(tasks) > 0:
		t.Fatalf("%s: not found, and the vendor got it", id)
	case a.Found && len(tasks) == 0:
		t.Fatalf("%s: %s, and the vendor never got it", id, a.Status)
	case a.Status == wire.TaskCompleted && tasks[0].state != wire.TaskCompleted:
		t.Fatalf("%s: a false done: the vendor's is %s", id, tasks[0].state)
	}
}

// Laws 6, 7, 9, 10, 11, 15 and 19 on random histories of a vendor that forgets, is silent, restarts and tells events twice or never,
// and a shim that is killed. The vendor's own tasks are the judge.
func TestLaw06And07And09And10And11And15And19OnRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "walk")
		if err != nil {
			rt.Fatal(err)
		}
		w := &walk{bench: newBench(t.Context(), rt, dir)}
		defer func() {
			if err := w.Close(); err != nil {
				rt.Error(err)
			}
		}()
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			w.step(rt)
			w.invariants(rt)
		}
		w.vendor.silent = false
		w.pass(time.Minute)
		w.settled(rt)
	})
}

// invariants hold at every moment.
func (w *walk) invariants(t *rapid.T) {
	ends := map[string][]string{}
	for _, e := range w.box.events {
		if e.OperationID == "" {
			t.Fatalf("an event of no operation: %+v", e)
		}
		if wire.Terminal(e.EventName) {
			ends[e.OperationID] = append(ends[e.OperationID], e.EventName)
		}
	}
	for _, vt := range w.vendor.tasks {
		id := vt.spec.OperationID
		if n := len(w.vendor.of(id)); n > 1 {
			t.Fatalf("law 11: the vendor was told %d times to do %s", n, id)
		}
		if slices.Contains(ends[id], wire.TaskCompleted) && vt.state != wire.TaskCompleted {
			t.Fatalf("%s: a false done: the vendor's is %s", id, vt.state)
		}
	}
	for id, names := range ends {
		if len(names) != 1 {
			t.Fatalf("law 7: the ends of %s: %v", id, names)
		}
	}
}

// settled holds once the vendor has been asked about everything: no operation is in the air.
func (w *walk) settled(t *rapid.T) {
	for id, op := range w.memory.operations {
		vt := w.vendor.of(id)
		if len(vt) != 1 {
			t.Fatalf("%s is remembered, and the vendor has %d tasks of it", id, len(vt))
		}
		alive := vt[0].life == w.vendor.life && !wire.Terminal(vt[0].state)
		want := []phase{over, unknown}
		if alive {
			want = []phase{taken}
			if w.twins(id) { // which of two tries it is, nobody can tell
				want = []phase{taken, unknown}
			}
		}
		if !slices.Contains(want, op.Phase) {
			t.Fatalf("%s is %s, and the vendor's %s (of this life: %v)", id, op.Phase, vt[0].state, vt[0].life == w.vendor.life)
		}
		if a, err := w.status(id); err != nil || !a.Found {
			t.Fatalf("%s: %+v, %v", id, a, err)
		}
	}
	if len(w.memory.pending) != 0 {
		t.Fatalf("%d events were told to nobody", len(w.memory.pending))
	}
}

// twins reports whether the submits of two tries of a step were lost.
func (w *walk) twins(id string) bool {
	step, _, _ := splitOperation(id)
	n := 0
	for other, op := range w.memory.operations {
		if of, _, _ := splitOperation(other); of == step && op.VendorID == "" {
			n++
		}
	}
	return n > 1
}

// A journal that is cut anywhere opens, with what was whole; one that is damaged anywhere else does not open.
func TestJournalSurvivesACutAnywhere(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted, wire.TaskCompleted)
	whole, err := os.ReadFile(b.journal.path)
	if err != nil {
		t.Fatal(err)
	}
	header := slices.Index(whole, '\n') + 1
	known := 0
	dir := t.TempDir()
	path := filepath.Join(dir, journalName)
	for cut := header; known < 3; cut = min(cut+3, len(whole)) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		m, torn, err := (&journal{path: path}).read()
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		n := rank(m.operations["p/move/1"])
		if n < known || torn > 0 && whole[cut-1] == '\n' {
			t.Fatalf("cut at %d: %d bytes are torn, and it knows %d, %d when cut before", cut, torn, n, known)
		}
		if known = n; cut == len(whole) && known < 3 {
			t.Fatalf("the whole file tells %d", known)
		}
	}
	damaged := slices.Clone(whole)
	damaged[header+20] ^= 1
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.journal.path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openJournal(b.dir); err == nil {
		t.Fatal("a damaged journal was opened")
	}
	if left, err := os.ReadFile(b.journal.path); err != nil || !slices.Equal(left, damaged) {
		t.Fatalf("a damaged journal was changed: %v", err)
	}
}

// rank is how far an operation is known.
func rank(op *operation) int {
	if op == nil {
		return 0
	}
	return map[phase]int{sending: 1, taken: 2, over: 3}[op.Phase]
}

func TestOneShimForADirectory(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	if _, err := Open(Options{StateDir: b.dir, Vendor: b.vendor}); err == nil {
		t.Fatal("two shims in one directory")
	} else if want := fmt.Sprintf("%s: %v", b.dir, ErrLocked); err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
}
