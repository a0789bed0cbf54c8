package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/deviceio/certificate"
	"errand/deviceio/wire"
)

const day = 24 * time.Hour

// clock is the time of a test, which it moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// standing is a standing in words.
func standing(t *testing.T, st certificate.Standing, err error) (inUse, next string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if st.Next != nil {
		next = st.Next.Fingerprint
	}
	return st.InUse.Fingerprint, next
}

// The certificate is made once, however many processes start at once, and is the same ever after; its owner alone may read its key.
func TestTheCertificatePersists(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tls.json")
	made := make([]string, 8)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			st, err := certificate.Open(path, certificate.Files{}, day).Read()
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = st.InUse.Fingerprint
		})
	}
	all.Wait()
	for _, fingerprint := range made {
		if fingerprint != made[0] || len(fingerprint) != 64 {
			t.Errorf("made %q and %q", made[0], fingerprint)
		}
	}
	for _, file := range []string{path, path + ".lock"} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", file, info.Mode(), err)
		}
	}
}

// A file that is not whole is an error, and stays as it is: with another certificate no device would trust the gateway.
func TestABrokenFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tls.json")
	s := certificate.Open(path, certificate.Files{}, day)
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "half": string(whole[:len(whole)/2]), "nothing in it": `{"version":1,"certificates":[]}`,
		"no key":         strings.ReplaceAll(string(whole), "PRIVATE KEY", "PUBLIC KEY"),
		"another format": strings.Replace(string(whole), `"version": 1`, `"version": 2`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for what, use := range map[string]func() (certificate.Standing, error){
			"Read": s.Read, "Rotate": func() (certificate.Standing, error) { return s.Rotate(day) },
		} {
			if _, err := use(); !errors.Is(err, certificate.ErrBroken) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
}

// A rotation is used when its time has come, by the clock alone, whether or not a gateway runs at that moment.
func TestARotationIsAnnouncedBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	path, at := filepath.Join(t.TempDir(), "tls.json"), newClock()
	open := func() *certificate.Store { return certificate.Open(path, certificate.Files{}, day).WithClock(at.now) }
	st, err := open().Read()
	first, _ := standing(t, st, err)
	st, err = open().Rotate(day)
	inUse, dropped := standing(t, st, err)
	if inUse != first || dropped == "" || dropped == first || !st.Next.From.Equal(at.now().Add(day)) {
		t.Errorf("rotated: in use %s, next %s from %v", inUse, dropped, st.Next.From)
	}
	st, err = open().Rotate(2 * day) // another one instead
	inUse, next := standing(t, st, err)
	if inUse != first || next == dropped {
		t.Errorf("rotated again: in use %s, next %s", inUse, next)
	}
	at.pass(2*day - time.Second)
	st, err = open().Read()
	if inUse, after := standing(t, st, err); inUse != first || after != next {
		t.Errorf("before its time: in use %s, next %s", inUse, after)
	}
	at.pass(time.Second)
	st, err = open().Read()
	if inUse, after := standing(t, st, err); inUse != next || after != "" {
		t.Errorf("in its time: in use %s, next %s", inUse, after)
	}
	st, err = open().Rotate(0)
	if inUse, after := standing(t, st, err); inUse == next || after != "" {
		t.Errorf("without an announcement: in use %s, next %s", inUse, after)
	}
}

// An operator's files count; what is put in their place is announced, also to a gateway that was down meanwhile, and taken back with them.
func TestReplacedFilesAreTheNextCertificate(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), newClock()
	files := certificate.Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	open := func() *certificate.Store {
		return certificate.Open(filepath.Join(dir, "tls.json"), files, day).WithClock(at.now)
	}
	one, other := issue(t, at.now().Add(90*day)), issue(t, at.now().Add(90*day))
	one.put(t, files)
	st, err := open().Read()
	if inUse, next := standing(t, st, err); inUse != one.fingerprint || next != "" {
		t.Errorf("the first: in use %s, next %s", inUse, next)
	}
	other.put(t, files)
	st, err = open().Read()
	if inUse, next := standing(t, st, err); inUse != one.fingerprint || next != other.fingerprint || !st.Next.From.Equal(at.now().Add(day)) {
		t.Errorf("replaced: in use %s, next %s", inUse, next)
	}
	at.pass(day / 2)
	st, err = open().Read()
	if _, next := standing(t, st, err); next != other.fingerprint || !st.Next.From.Equal(at.now().Add(day/2)) {
		t.Errorf("looked at again: next %s from %v", next, st.Next.From)
	}
	one.put(t, files)
	st, err = open().Read()
	if inUse, next := standing(t, st, err); inUse != one.fingerprint || next != "" {
		t.Errorf("put back: in use %s, next %s", inUse, next)
	}
	other.put(t, files)
	if _, err := open().Read(); err != nil {
		t.Fatal(err)
	}
	at.pass(day)
	st, err = open().Read()
	if inUse, next := standing(t, st, err); inUse != other.fingerprint || next != "" {
		t.Errorf("in its time: in use %s, next %s", inUse, next)
	}
	if _, err := open().Rotate(day); !errors.Is(err, certificate.ErrOperators) {
		t.Errorf("Rotate = %v", err)
	}
}

// A certificate that expires before the next one's time is not used beyond.
func TestAnExpiredCertificateIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), newClock()
	files := certificate.Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	s := certificate.Open(filepath.Join(dir, "tls.json"), files, day).WithClock(at.now)
	old, fresh := issue(t, at.now().Add(time.Hour)), issue(t, at.now().Add(90*day))
	old.put(t, files)
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	fresh.put(t, files)
	st, err := s.Read()
	if _, next := standing(t, st, err); next != fresh.fingerprint || !st.Next.From.Equal(at.now().Add(time.Hour)) {
		t.Errorf("next %s from %v", next, st.Next.From)
	}
}

// Files that are not there, or do not belong together, are told by their settings' names, and put nothing in the place of what is in use.
func TestUnusableFilesAreAnError(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), newClock()
	files := certificate.Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	s := certificate.Open(filepath.Join(dir, "tls.json"), files, day).WithClock(at.now)
	if _, err := s.Read(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "ERRAND_GATEWAY_TLS_CERT") {
		t.Errorf("no files: %v", err)
	}
	one, other := issue(t, at.now().Add(day)), issue(t, at.now().Add(day))
	one.key = other.key
	one.put(t, files)
	if _, err := s.Read(); err == nil || !strings.Contains(err.Error(), "ERRAND_GATEWAY_TLS_KEY") {
		t.Errorf("a key of another certificate: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tls.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was taken into use: %v", err)
	}
}

// issued is a certificate of an operator's own.
type issued struct {
	cert, key   []byte
	fingerprint string
}

func issue(t *testing.T, until time.Time) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: until.Add(-365 * day), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return issued{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), wire.Fingerprint(der)}
}

func (i issued) put(t *testing.T, files certificate.Files) {
	t.Helper()
	if err := errors.Join(os.WriteFile(files.Cert, i.cert, 0o600), os.WriteFile(files.Key, i.key, 0o600)); err != nil {
		t.Fatal(err)
	}
}
