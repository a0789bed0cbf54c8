package gateway

import "testing"

func TestACrowdIsGoneOnce(t *testing.T) {
	t.Parallel()
	var c crowd
	for i, step := range []struct {
		now  int
		gone bool
	}{{100, false}, {700, false}, {400, false}, {300, false}, {150, true}, {150, false}, {500, false}, {100, false}, {5000, false}, {2400, true}} {
		if got := c.gone(step.now); got != step.gone {
			t.Errorf("step %d, %d goroutines: %v, want %v", i, step.now, got, step.gone)
		}
	}
}
