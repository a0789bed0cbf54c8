package gateway_test

import (
	"context"
	"sync"

	"errand/deviceio/registry"
)

// faulty is a registry whose calls can be made to fail.
type faulty struct {
	*registry.Registry
	mu    sync.Mutex
	down  error
	stops error
	// read, if set, is called with what StopOf read, before it is told, and standing before Standing reads.
	read     func(stopped bool)
	standing func()
}

func (f *faulty) onStanding(standing func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.standing = standing
}

func (f *faulty) failStops(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops = err
}

func (f *faulty) StopOf(ctx context.Context, id string) (registry.Stop, bool, error) {
	f.mu.Lock()
	broken, read := f.stops, f.read
	f.mu.Unlock()
	if broken != nil {
		return registry.Stop{}, false, broken
	}
	stop, stopped, err := f.Registry.StopOf(ctx, id)
	if read != nil {
		read(stopped)
	}
	return stop, stopped, err
}

func (f *faulty) onRead(read func(stopped bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = read
}

func (f *faulty) StopDevice(ctx context.Context, s registry.Stop) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stops != nil {
		return f.stops
	}
	return f.Registry.StopDevice(ctx, s)
}

func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *faulty) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.down
}

func (f *faulty) KeepStray(ctx context.Context, e registry.StrayEvent) (registry.StrayEvent, error) {
	if err := f.fault(); err != nil {
		return registry.StrayEvent{}, err
	}
	return f.Registry.KeepStray(ctx, e)
}

func (f *faulty) ShowCertificate(ctx context.Context, id string, s registry.Shown) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.Registry.ShowCertificate(ctx, id, s)
}

func (f *faulty) Declare(ctx context.Context, d registry.Declaration) (registry.Device, error) {
	if err := f.fault(); err != nil {
		return registry.Device{}, err
	}
	return f.Registry.Declare(ctx, d)
}

func (f *faulty) Standing(ctx context.Context, id string) (registry.State, []string, error) {
	if err := f.fault(); err != nil {
		return "", nil, err
	}
	f.mu.Lock()
	standing := f.standing
	f.mu.Unlock()
	if standing != nil {
		standing()
	}
	return f.Registry.Standing(ctx, id)
}
