package dev

import "runtime"

// forker runs functions on one OS thread that lives as long as it does. The kernel counts a child's parent as dead when
// the thread that forked it ends (prctl(2), PR_SET_PDEATHSIG), and Go ends threads as it likes; so every child is
// forked here.
type forker struct {
	jobs chan func()
	done chan struct{}
}

func newForker() *forker {
	f := &forker{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		runtime.LockOSThread() // and never unlock: the thread ends with this goroutine
		for job := range f.jobs {
			job()
		}
	}()
	return f
}

// do runs job on the thread and waits for it.
func (f *forker) do(job func() error) error {
	result := make(chan error)
	f.jobs <- func() { result <- job() }
	return <-result
}

// close ends the thread. What it forked and still lives is killed by the kernel.
func (f *forker) close() {
	close(f.jobs)
	<-f.done
}
