package device

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"errand/deviceio/linefile"
	"errand/deviceio/wire"
)

// formatVersion is the number in the header. Another number is another format: this code does not touch such a file.
const formatVersion = 1

// record is one thing that happened to the outbox; exactly one field is set. OUTBOX.md fixes the format.
type record struct {
	Outbox int         `json:"outbox,omitempty"` // the header, first in the file
	Boot   *bootRecord `json:"boot,omitempty"`
	Put    *putRecord  `json:"put,omitempty"`
	Ack    string      `json:"ack,omitempty"`  // the event is recorded by the cloud
	Drop   string      `json:"drop,omitempty"` // the event was given up for room
	Done   *doneRecord `json:"done,omitempty"`
}

// bootRecord opens a boot. Seq is the last number it gave, written when compaction removes the puts that tell it.
type bootRecord struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq,omitempty"`
}

// putRecord is one event.
type putRecord struct {
	Event string `json:"event"`
	wire.Envelope
	Key       string          `json:"key,omitempty"`
	Droppable bool            `json:"droppable,omitempty"`
	Urgent    bool            `json:"urgent,omitempty"`
	Payload   json.RawMessage `json:"payload"`
}

// doneRecord keeps the key of an acknowledged event after compaction.
type doneRecord struct {
	Key     string `json:"key"`
	EventID string `json:"event_id"`
}

// CorruptError says that an outbox file is damaged where no crash of ours can have damaged it. Opening it would lose
// events that were promised to be kept, so it is not opened.
type CorruptError struct {
	File   string
	Offset int64 // byte at which the bad line starts
	Why    string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s. Nothing was changed. Restore the file from a copy, or, to give up the events in it, "+
		"move it away: the outbox then starts anew and the cloud asks the device about what was in flight", e.File, e.Offset, e.Why)
}

// appendLine writes records as one line: one record as an object, several as a list, so that what one write
// adds is one line with one checksum, there as a whole or not at all.
func appendLine(to []byte, records ...record) ([]byte, error) {
	var body any = records
	if len(records) == 1 {
		body = records[0]
	}
	return linefile.Append(to, body)
}

// parseLine reads one line without its newline, or says what is wrong with it.
func parseLine(line []byte) ([]record, string) {
	body, why := linefile.Parse(line)
	if why != "" {
		return nil, why
	}
	return parseRecords(body)
}

// parseRecords reads what one line holds.
func parseRecords(body []byte) ([]record, string) {
	var records []record
	var err error
	if body[0] == '[' {
		err = json.Unmarshal(body, &records)
	} else {
		records = make([]record, 1)
		err = json.Unmarshal(body, &records[0])
	}
	if err != nil {
		return nil, "the checksum fits, but the line is not a record: " + err.Error()
	}
	return records, ""
}

// history is what a file tells: which boots there were, what is not acknowledged, which keys are taken.
type history struct {
	boots   []*bootRecord    // oldest first; Seq is the last number given so far
	pending []*putRecord     // in order
	done    []doneRecord     // oldest first
	end     int64            // bytes of whole lines; what is behind them is a torn write
	last    map[string]int64 // boot id → number of its last put so far
}

// parseHistory reads a whole file. Only the last line may be bad: it was being written when the power went, and no Put
// of it had returned. It is left out. Anything else bad is a *CorruptError.
func parseHistory(file string, content []byte) (*history, error) {
	h := &history{last: make(map[string]int64)}
	end, damage := linefile.Read(content, func(at int64, body []byte) string {
		h.end = at
		records, why := parseRecords(body)
		for _, r := range records {
			if why == "" {
				why = h.apply(r)
			}
		}
		return why
	})
	if damage != nil {
		return nil, &CorruptError{file, damage.Offset, damage.Why}
	}
	h.end = end
	return h, nil
}

// apply adds one record, or says why it cannot be.
func (h *history) apply(r record) string {
	switch {
	case h.end == 0 && r.Outbox != formatVersion:
		return fmt.Sprintf("the file does not start with the header of format %d", formatVersion)
	case r.Outbox != 0:
		return ""
	case r.Boot != nil:
		return h.open(r.Boot)
	case r.Put != nil:
		return h.put(r.Put)
	case r.Ack != "":
		h.remove(r.Ack, true)
		return ""
	case r.Drop != "":
		h.remove(r.Drop, false)
		return ""
	case r.Done != nil:
		h.done = append(h.done, *r.Done)
		return ""
	}
	return "the record is of no kind this format knows"
}

func (h *history) open(b *bootRecord) string {
	if !wire.ValidBootID(b.ID) || h.boot(b.ID) != nil {
		return fmt.Sprintf("the boot id %q is ill-formed or was there before", b.ID)
	}
	h.boots = append(h.boots, b)
	return ""
}

func (h *history) put(p *putRecord) string {
	boot := h.boot(p.BootID)
	if boot == nil || p.Seq <= h.last[p.BootID] || p.EventID != eventID(p.BootID, p.Seq) {
		return fmt.Sprintf("the event %q does not follow the ones before it", p.EventID)
	}
	h.last[p.BootID] = p.Seq
	boot.Seq = max(boot.Seq, p.Seq)
	h.pending = append(h.pending, p)
	return ""
}

// remove takes an event out; an acknowledged one leaves its key. An id that is not pending changes nothing:
// after a compaction there may be an acknowledgement whose event is gone.
func (h *history) remove(id string, acked bool) {
	i := slices.IndexFunc(h.pending, func(p *putRecord) bool { return p.EventID == id })
	if i < 0 {
		return
	}
	if p := h.pending[i]; acked && p.Key != "" {
		h.done = append(h.done, doneRecord{p.Key, p.EventID})
	}
	h.pending = slices.Delete(h.pending, i, i+1)
}

func (h *history) boot(id string) *bootRecord {
	for _, b := range h.boots {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// envelopeOf takes an event id apart again.
func envelopeOf(id string) wire.Envelope {
	i := strings.LastIndexByte(id, '-')
	seq, err := strconv.ParseInt(id[i+1:], 10, 64)
	if i < 0 || err != nil {
		return wire.Envelope{EventID: id}
	}
	return wire.Envelope{EventID: id, BootID: id[:i], Seq: seq}
}

func eventID(bootID string, seq int64) string { return bootID + "-" + strconv.FormatInt(seq, 10) }
