package registry

import (
	"context"
	"sync"
	"time"
)

// joins lets connections that come at once share a transaction, where the engine has one writer: a fleet that comes back would otherwise
// wait for the disk once for each device. Whoever comes while one is being written goes into the next.
type joins struct {
	mu      sync.Mutex
	waiting []*joining
	busy    bool // somebody writes them
}

// joining is one connection on its way. Its result is set before done is closed.
type joining struct {
	c     Connection
	ttl   time.Duration
	epoch int64
	err   error
	done  chan struct{}
}

// mostJoins is how many share one transaction, and joinTime bounds it.
const (
	mostJoins = 256
	joinTime  = 10 * time.Second
)

// connect waits until the connection is on disk. If ctx ends first it may be recorded all the same; nobody renews it then.
func (j *joins) connect(ctx context.Context, r *Registry, c Connection, ttl time.Duration) (int64, error) {
	one := &joining{c: c, ttl: ttl, done: make(chan struct{})}
	j.mu.Lock()
	j.waiting = append(j.waiting, one)
	if !j.busy {
		j.busy = true
		go j.write(r)
	}
	j.mu.Unlock()
	select {
	case <-one.done:
		return one.epoch, one.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// write writes what waits until nothing does.
func (j *joins) write(r *Registry) {
	for {
		together := j.take()
		if len(together) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), joinTime)
		err := r.within(ctx, "", func(tx *transaction) error {
			for _, one := range together {
				// What one of them breaks, such as naming a device that is not there, undoes its own statement and no other's.
				one.epoch, one.err = join(ctx, tx, one.c, r.now(), one.ttl)
			}
			return ctx.Err()
		})
		cancel()
		for _, one := range together {
			if err != nil {
				one.err = err // nothing was written
			} else {
				one.err = r.db.classify(one.err)
			}
			close(one.done)
		}
	}
}

func (j *joins) take() (together []*joining) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := min(len(j.waiting), mostJoins)
	together, j.waiting = j.waiting[:n:n], j.waiting[n:]
	j.busy = n > 0
	return together
}
