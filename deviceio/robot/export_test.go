package robot

import "testing"

// RunOnce lets a fresh robot do one thing, and returns the result it told.
func RunOnce(t *testing.T, method string, params map[string]any) map[string]any {
	t.Helper()
	b := newBench(t)
	b.accept(task("p/once/1", method, params))
	return result(b.until("p/once/1", "COMPLETED"))
}
