package gateway

import (
	"runtime"
	"runtime/debug"
)

// crowd notices that many sockets are gone. The runtime would keep their memory for minutes: a flood must not leave the gateway
// large long after it was turned away.
type crowd struct{ most int }

// leastCrowd is how many goroutines fewer there must be, and less than half, for it to be worth the pause of a collection.
const leastCrowd = 500

// gone reports whether there was a crowd that is gone; now is how many goroutines there are, a few for each socket.
func (c *crowd) gone(now int) bool {
	c.most = max(c.most, now)
	if now > c.most/2 || c.most-now < leastCrowd {
		return false
	}
	c.most = now
	return true
}

// tidy gives memory back to the system behind a crowd. Called now and then.
func (c *crowd) tidy() {
	if c.gone(runtime.NumGoroutine()) {
		debug.FreeOSMemory()
	}
}
