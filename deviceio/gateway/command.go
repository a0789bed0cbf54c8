package gateway

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"errand/deviceio/wire"
	"errand/plan"
)

// A command of a plain node is a task whose invoke result is its completion (contract.md §10). The node neither deduplicates nor
// reports after a disconnect, so what is known of such a task is known here, for as long as its connection lasts: command.go
// holds what was sent over one connection, command_link.go is what activities ask, command_result.go what becomes of a result.

// invocation is one operation that was sent to a node as one invoke.
type invocation struct {
	id     string
	submit plan.Submit
	epoch  int64
	seq    int64 // of its result, in the order in which results were read
	timer  *time.Timer
	// late says that the result is not waited for any more: it was cancelled, or took too long.
	late bool
	// read says that its result is here, and being recorded.
	read bool
}

// Bounds of what one connection remembers.
const (
	maxLate   = 64  // invocations whose result may still come, though nobody waits
	maxBuried = 256 // operations that were cancelled before they came
)

// commands are the invocations of one connection.
type commands struct {
	mu     sync.Mutex
	byID   map[string]*invocation
	late   []string // ids of the late ones, the oldest first
	buried []string // operations that may not be sent here any more
	seq    int64
}

// errBuried means that an operation was cancelled before it came.
var errBuried = errors.New("it was cancelled before it came")

// add notes an invocation before it is sent. An operation that is in flight already is not sent twice: its invocation is returned.
func (c *commands) add(inv *invocation) (inFlight *invocation, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.buried, inv.submit.OperationID) {
		return nil, fmt.Errorf("operation %s: %w", inv.submit.OperationID, errBuried)
	}
	if other := c.of(inv.submit.OperationID); other != nil {
		return other, nil
	}
	if c.byID == nil {
		c.byID = make(map[string]*invocation)
	}
	c.byID[inv.id] = inv
	return nil, nil
}

// of finds the invocation of an operation that is in flight. The caller holds the lock.
func (c *commands) of(operationID string) *invocation {
	for _, inv := range c.byID {
		if inv.submit.OperationID == operationID && !inv.late {
			return inv
		}
	}
	return nil
}

// inFlight finds the invocation of an operation: sent, and its result neither recorded nor given up.
func (c *commands) inFlight(operationID string) *invocation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of(operationID)
}

// operations lists what is in flight.
func (c *commands) operations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := []string{}
	for _, inv := range c.byID {
		if !inv.late {
			ids = append(ids, inv.submit.OperationID)
		}
	}
	slices.Sort(ids)
	return ids
}

// read takes the invocation of a result that was just read; nil for one that was never sent here, or whose result came before.
// known tells those two apart.
func (c *commands) read(id string) (inv *invocation, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	inv = c.byID[id]
	if inv == nil || inv.read {
		return nil, inv != nil
	}
	c.seq++
	inv.read, inv.seq = true, c.seq
	return inv, true
}

// giveUp stops waiting for the result of an operation. It reports which invocation that was; nil if it is not in flight, or its
// result is here.
func (c *commands) giveUp(operationID string) *invocation {
	c.mu.Lock()
	defer c.mu.Unlock()
	inv := c.of(operationID)
	if inv == nil || inv.read {
		return nil
	}
	inv.late = true
	c.late = append(c.late, inv.id)
	if len(c.late) > maxLate {
		delete(c.byID, c.late[0])
		c.late = c.late[1:]
	}
	return inv
}

// bury keeps an operation from being sent over this connection.
func (c *commands) bury(operationID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buried = append(c.buried, operationID); len(c.buried) > maxBuried {
		c.buried = c.buried[1:]
	}
}

// forget ends an invocation: its result is recorded, or it was never sent.
func (c *commands) forget(inv *invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if inv.timer != nil {
		inv.timer.Stop()
	}
	delete(c.byID, inv.id)
	c.late = slices.DeleteFunc(c.late, func(id string) bool { return id == inv.id })
}

// end stops the clocks of a connection that is over: its node aborted what it did, and reports nothing of it.
func (c *commands) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, inv := range c.byID {
		if inv.timer != nil {
			inv.timer.Stop()
		}
	}
}

// busy counts what is in flight.
func (c *commands) busy() int { return len(c.operations()) }

// start sets the clock of an invocation that was sent.
func (c *commands) start(inv *invocation, after time.Duration, late func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[inv.id] == inv { // or its result was faster
		inv.timer = time.AfterFunc(after, late)
	}
}

// cancelInvoke tells the node to stop. No result follows.
func (s *session) cancelInvoke(inv *invocation) {
	s.send(wire.EventCancel, wire.InvokeCancel{InvokeID: inv.id, NodeID: s.deviceID})
	s.quieter()
}
