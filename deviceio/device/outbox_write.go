package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"errand/deviceio/linefile"
)

// enqueue adds records to what the next write takes and starts the writer if none runs. Called with the lock.
//
// One write runs at a time, and each is one line and one fsync. So a crash can damage at most the last line, and
// everything a Put promised is in front of it. Puts that come during a write share the next one.
func (o *Outbox) enqueue(p *entry, records ...record) *group {
	if o.group == nil {
		o.group = &group{done: make(chan struct{})}
	}
	g := o.group
	g.records = append(g.records, records...)
	if p != nil {
		g.entries = append(g.entries, p)
	}
	if !o.writing {
		o.writing, o.idle = true, make(chan struct{})
		go o.flush()
	}
	return g
}

// flush writes group after group until there is none. It alone touches the file while it runs.
func (o *Outbox) flush() {
	var broken error
	for {
		o.mu.Lock()
		g := o.group
		o.group = nil
		if g == nil {
			o.writing = false
			close(o.idle)
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()

		if broken == nil {
			broken = o.write(g)
		}
		o.settle(g, broken)
		if broken == nil {
			broken = o.compact()
		}
	}
}

func (o *Outbox) write(g *group) error {
	line, err := appendLine(nil, g.records...)
	if err != nil {
		return err
	}
	if _, err = o.file.Write(line); err == nil {
		err = o.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("outbox: the write failed, and what is on disk now is not sure: open the outbox again: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size += int64(len(line))
	return nil
}

// settle tells everyone who waits for a group how it went.
func (o *Outbox) settle(g *group, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	g.err = err
	for _, p := range g.entries {
		p.durable = err == nil
	}
	if err != nil && o.failed == nil {
		o.failed = err
	}
	o.wake()
	close(g.done)
}

// compact writes the file anew once it is mostly garbage. Called by flush only. An error means that the file cannot
// be trusted any more; a compaction that merely did not come about leaves the old file and is tried again later.
func (o *Outbox) compact() error {
	o.mu.Lock()
	live := o.bytes + int64(len(o.pending)*256+len(o.done)*96+len(o.boots)*48) // about; it only decides when
	if garbage := o.size - live; garbage < o.opts.CompactBytes || garbage < live {
		o.mu.Unlock()
		return nil
	}
	content, err := o.snapshot()
	o.mu.Unlock()
	if err != nil {
		return err
	}
	fresh := o.path + ".new"
	if err = linefile.WriteSynced(fresh, content); err == nil {
		err = os.Rename(fresh, o.path)
	}
	if err != nil {
		o.opts.Logger.Error("outbox: compaction failed, the old file stays", "err", err)
		o.mu.Lock()
		o.opts.CompactBytes *= 2 // a full disk is not asked again at every event
		o.mu.Unlock()
		return nil
	}
	return o.reopen(int64(len(content)))
}

// reopen goes on in the file that was just renamed into place.
func (o *Outbox) reopen(size int64) error {
	err := linefile.SyncDir(filepath.Dir(o.path))
	file, openErr := o.opts.open(o.path)
	if err = errors.Join(err, openErr); err == nil {
		err = o.file.Close()
		o.file = file
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size = size
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return err
}

// snapshot writes down everything that still matters. Entries that are not durable wait in the next group, behind it.
// Called with the lock.
func (o *Outbox) snapshot() ([]byte, error) {
	o.boots = o.listed()
	records := []record{{Outbox: formatVersion}}
	for _, b := range o.boots {
		records = append(records, record{Boot: b})
	}
	for i := range o.done {
		records = append(records, record{Done: &o.done[i]})
	}
	for _, p := range o.pending {
		if p.durable {
			records = append(records, record{Put: p.put})
		}
	}
	var content []byte
	var err error
	for _, r := range records {
		if content, err = appendLine(content, r); err != nil {
			return nil, err
		}
	}
	return content, nil
}
