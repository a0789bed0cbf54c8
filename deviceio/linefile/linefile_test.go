package linefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"errand/deviceio/linefile"
)

// file is three lines.
func file(t *testing.T) []byte {
	t.Helper()
	var content []byte
	var err error
	for _, body := range []string{"header", "one", "two"} {
		if content, err = linefile.Append(content, map[string]string{"is": body}); err != nil {
			t.Fatal(err)
		}
	}
	return content
}

func read(content []byte) (bodies []string, end int64, damage *linefile.Damage) {
	end, damage = linefile.Read(content, func(_ int64, body []byte) string {
		bodies = append(bodies, string(body))
		return ""
	})
	return bodies, end, damage
}

// A cut anywhere behind the first line leaves what was whole; a change anywhere else than in the last line is damage.
func TestACutIsNoDamageAndAChangeIs(t *testing.T) {
	t.Parallel()
	content := file(t)
	whole, end, damage := read(content)
	if damage != nil || end != int64(len(content)) || !slices.Equal(whole, []string{`{"is":"header"}`, `{"is":"one"}`, `{"is":"two"}`}) {
		t.Fatalf("%v %d %v", whole, end, damage)
	}
	header := slices.Index(content, '\n') + 1
	for cut := range content {
		bodies, end, damage := read(content[:cut])
		if (damage != nil) != (cut < header) || damage == nil && (!slices.Equal(bodies, whole[:len(bodies)]) || int(end) > cut) {
			t.Errorf("cut at %d: %v %d %v", cut, bodies, end, damage)
		}
	}
	last := slices.Index(content[header:], '\n') + 1 + header
	for i := range last {
		changed := slices.Clone(content)
		changed[i] ^= 0x10
		if _, _, damage := read(changed); damage == nil {
			t.Errorf("byte %d changed, and nobody sees it", i)
		}
	}
}

func TestFilesOnDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	lock, err := linefile.Lock(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := linefile.Lock(path + ".lock"); !errors.Is(err, linefile.ErrLocked) {
		t.Errorf("%v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := linefile.Lock(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	content := file(t)
	if err := linefile.Replace(path, content); err != nil {
		t.Fatal(err)
	}
	f, err := linefile.OpenAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := linefile.Cut(path, int64(len(content))); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadFile(path); err != nil || !slices.Equal(left, content) {
		t.Errorf("%q, %v", left, err)
	}
}
