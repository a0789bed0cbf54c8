package media_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"errand/deviceio/media"
)

func Example() {
	folder, err := os.MkdirTemp("", "media-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	s := media.Open(folder, media.Limits{})
	ref, err := s.Keep([]byte("a photo"))
	photo, _ := s.Read(ref)
	fmt.Println(ref[:20], string(photo), err)
	// Output: media:sha256-d4e24d7 a photo <nil>
}

func TestTheSameBytesHaveOneReferenceAndComeBack(t *testing.T) {
	t.Parallel()
	s := media.Open(t.TempDir(), media.Limits{Item: 100})
	first, err := s.Keep([]byte("a photo"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Keep([]byte("a photo"))
	if err != nil || first != second {
		t.Fatalf("%q and %q, %v", first, second, err)
	}
	if back, err := s.Read(first); err != nil || string(back) != "a photo" {
		t.Errorf("read %q, %v", back, err)
	}
	if _, err := s.Keep(make([]byte, 101)); !errors.Is(err, media.ErrTooLarge) {
		t.Errorf("101 bytes of 100: %v", err)
	}
}

func TestAFullStoreLetsTheOldestGo(t *testing.T) {
	t.Parallel()
	s := media.Open(t.TempDir(), media.Limits{Item: 100, Total: 250})
	var refs []string
	for i := range 5 {
		ref, err := s.Keep(bytes.Repeat([]byte{byte(i)}, 100))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	left := 0
	for _, ref := range refs {
		if _, err := s.Read(ref); err == nil {
			left++
		} else if !errors.Is(err, media.ErrGone) {
			t.Error(err)
		}
	}
	if _, err := s.Read(refs[4]); err != nil || left > 2 {
		t.Errorf("%d of 5 are left of a store for two, the newest: %v", left, err)
	}
}

func TestAReferenceIsNoPath(t *testing.T) {
	t.Parallel()
	s := media.Open(t.TempDir(), media.Limits{})
	for _, ref := range []string{"", "media:sha256-../../etc/passwd", media.Prefix, "/etc/passwd"} {
		if _, err := s.Read(ref); !errors.Is(err, media.ErrGone) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}
