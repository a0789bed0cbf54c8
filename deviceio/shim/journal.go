package shim

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"errand/deviceio/linefile"
	"errand/deviceio/wire"
)

// Files of a shim in its state directory, beside those of the device's client.
const (
	journalName = "shim.log"
	lockName    = "shim.lock"
)

// journalFormat is the number in the header. Another number is another format: this code does not touch such a file.
const journalFormat = 1

// ErrLocked says that another process runs a shim in this state directory.
var ErrLocked = errors.New("a shim runs in this state directory already: give each device one of its own")

// record is one change; exactly one field is set. The changes that belong together are one line, and so on disk together.
type record struct {
	Shim  *header       `json:"shim,omitempty"`  // first in the file
	Op    *operation    `json:"op,omitempty"`    // the operation as it stands now, whole
	Drop  string        `json:"drop,omitempty"`  // the operation never reached the vendor, or was forgotten with its time
	Fence *fence        `json:"fence,omitempty"` // the highest generation seen of a step
	Dead  *tombstone    `json:"dead,omitempty"`  // an operation that must never run
	Tell  *announcement `json:"tell,omitempty"`  // an event for the outbox
	Told  int64         `json:"told,omitempty"`  // the outbox has the event of this number
	Early *earlyEvent   `json:"early,omitempty"` // an event that came before the answer to its submit
	Match int64         `json:"match,omitempty"` // the early event of this number has found its operation, or its time is over
}

type header struct {
	Format int `json:"format"`
	// StoreID names this memory (contract.md §3, store_id): another one means that the old one was lost.
	StoreID string `json:"store_id"`
}

type fence struct {
	Step       string `json:"step"`
	Generation int    `json:"generation"`
	At         int64  `json:"at"`
}

type tombstone struct {
	OperationID string      `json:"operation_id"`
	At          int64       `json:"at"`
	Reason      wire.Reason `json:"reason"`
}

// earlyEvent is an event of a task that nobody knows yet, while a submit is under way.
type earlyEvent struct {
	N     int64          `json:"n"`
	At    int64          `json:"at"`
	Event wire.TaskEvent `json:"event"`
}

// memory is what the journal tells.
type memory struct {
	storeID    string
	operations map[string]*operation
	fences     map[string]*fence
	tombstones map[string]*tombstone
	pending    []*announcement // in the order in which they are told
	early      []*earlyEvent
	number     int64 // of the last announcement or early event
}

// apply takes one change, or says why it cannot be.
func (m *memory) apply(r record) string {
	switch {
	case m.storeID == "" && (r.Shim == nil || r.Shim.Format != journalFormat || r.Shim.StoreID == ""):
		return fmt.Sprintf("the file does not start with the header of format %d", journalFormat)
	case r.Shim != nil:
		m.storeID = r.Shim.StoreID
	case r.Op != nil:
		m.operations[r.Op.ID] = r.Op
	case r.Drop != "":
		delete(m.operations, r.Drop)
	case r.Fence != nil:
		m.fences[r.Fence.Step] = r.Fence
	case r.Dead != nil:
		m.tombstones[r.Dead.OperationID] = r.Dead
	case r.Tell != nil:
		m.pending, m.number = append(m.pending, r.Tell), max(m.number, r.Tell.N)
	case r.Told != 0:
		m.pending = slices.DeleteFunc(m.pending, func(a *announcement) bool { return a.N == r.Told })
	case r.Early != nil:
		m.early, m.number = append(m.early, r.Early), max(m.number, r.Early.N)
	case r.Match != 0:
		m.early = slices.DeleteFunc(m.early, func(e *earlyEvent) bool { return e.N == r.Match })
	default:
		return "the record is of no kind this format knows"
	}
	return ""
}

// snapshot lists everything that still matters, for a file that is written anew.
func (m *memory) snapshot() []record {
	records := []record{{Shim: &header{journalFormat, m.storeID}}}
	for _, id := range slices.Sorted(maps.Keys(m.operations)) {
		records = append(records, record{Op: m.operations[id]})
	}
	for _, step := range slices.Sorted(maps.Keys(m.fences)) {
		records = append(records, record{Fence: m.fences[step]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.tombstones)) {
		records = append(records, record{Dead: m.tombstones[id]})
	}
	for _, a := range m.pending {
		records = append(records, record{Tell: a})
	}
	for _, e := range m.early {
		records = append(records, record{Early: e})
	}
	return records
}

// journal is the file. It is written by one caller at a time.
type journal struct {
	path string
	lock *os.File
	file *os.File
	size int64
	// limit is the size at which the file is written anew.
	limit int64
}

// leastLimit is the least size at which the journal is written anew, in bytes.
const leastLimit = 1 << 20

// openJournal takes the state directory, which must exist, and reads what an earlier life left in it. torn is how many bytes of
// a write that nobody was promised were cut off.
func openJournal(dir string) (j *journal, m *memory, torn int64, err error) {
	lock, err := linefile.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, linefile.ErrLocked) {
		return nil, nil, 0, fmt.Errorf("%s: %w", dir, ErrLocked)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	j = &journal{path: filepath.Join(dir, journalName), lock: lock}
	m, torn, err = j.read()
	if err == nil {
		err = j.compact(m)
	}
	if err != nil {
		return nil, nil, 0, errors.Join(err, lock.Close())
	}
	return j, m, torn, nil
}

// read reads the file, and cuts a torn write off its end. Where there is none, the memory is new, and so is its name.
func (j *journal) read() (*memory, int64, error) {
	m := &memory{operations: map[string]*operation{}, fences: map[string]*fence{}, tombstones: map[string]*tombstone{}}
	content, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		m.storeID = "store-" + rand.Text()[:16]
		return m, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}
	end, damage := linefile.Read(content, func(_ int64, body []byte) string {
		records, err := parseRecords(body)
		if err != nil {
			return "the checksum fits, but the line is not a record: " + err.Error()
		}
		for _, r := range records {
			if why := m.apply(r); why != "" {
				return why
			}
		}
		return ""
	})
	if damage != nil {
		return nil, 0, fmt.Errorf("%s: byte %d: %s. Nothing was changed. Restore the file from a copy, or, to give up what it remembers, "+
			"move it away: the shim then starts with a new store id, and the cloud takes no \"not found\" of it for \"never ran\"", j.path, damage.Offset, damage.Why)
	}
	return m, int64(len(content)) - end, nil
}

func parseRecords(body []byte) ([]record, error) {
	if !bytes.HasPrefix(body, []byte("[")) {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	var records []record
	err := json.Unmarshal(body, &records)
	return records, err
}

// compact writes the file anew, with what still matters.
func (j *journal) compact(m *memory) error {
	var content []byte
	var err error
	for _, r := range m.snapshot() {
		if content, err = linefile.Append(content, r); err != nil {
			return err
		}
	}
	if err := linefile.Replace(j.path, content); err != nil {
		return err
	}
	file, err := linefile.OpenAppend(j.path)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if j.file != nil {
		err = j.file.Close()
	}
	j.file, j.size, j.limit = file, int64(len(content)), max(leastLimit, 2*int64(len(content)))
	return err
}

// write adds changes as one line, on disk when it returns. After an error nothing about the file's end is sure.
func (j *journal) write(records []record) error {
	line, err := linefile.Append(nil, records)
	if err != nil {
		return err
	}
	if _, err = j.file.Write(line); err == nil {
		err = j.file.Sync()
	}
	j.size += int64(len(line))
	return err
}

func (j *journal) close() error { return errors.Join(j.file.Close(), j.lock.Close()) }
