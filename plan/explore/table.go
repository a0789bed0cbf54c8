package explore

// table is a set of keys that numbers them as they come. Keys are 64-bit sums: among n states, the chance that any two are
// taken for one is below n²/2⁶⁵, for ten million about three in a million.
type table struct {
	slots []slot
	count int32
}

type slot struct {
	key   uint64
	index int32 // plus one; 0 is an empty slot
}

func newTable() *table { return &table{slots: make([]slot, 1<<12)} }

// place returns the slot of a key, or the empty one where it belongs.
func (t *table) place(key uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.index == 0 || s.key == key {
			return s
		}
	}
}

func (t *table) has(key uint64) bool { return t.place(key).index > 0 }

// add returns the key's number, and whether it is new.
func (t *table) add(key uint64) (int32, bool) {
	s := t.place(key)
	if s.index > 0 {
		return s.index - 1, false
	}
	t.count++
	s.key, s.index = key, t.count
	if int(t.count)*3 > len(t.slots)*2 {
		t.grow()
	}
	return t.count - 1, true
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.index > 0 {
			*t.place(s.key) = s
		}
	}
}
