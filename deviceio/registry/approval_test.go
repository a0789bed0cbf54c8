package registry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"errand/deviceio/registry"
)

// advertise declares the device with these commands.
func advertise(t *testing.T, r *registry.Registry, id string, commands ...string) registry.Device {
	t.Helper()
	d, err := r.Declare(t.Context(), registry.Declaration{ID: id, PublicKey: "key-" + id, InstanceID: "installation-" + id, Commands: commands})
	must(t, err)
	return d
}

// What a person approved is what was advertised then. A device that offers more later is not asked to do it before it is
// approved again; one that offers less is not asked to do that either.
func TestApprovalIsOfASurface(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	advertise(t, r, "node", "system.which", "location.get")
	must(t, r.Approve(t.Context(), "node"))
	d := advertise(t, r, "node", "system.which", "system.run")
	if !d.Offers("system.which") || d.Offers("system.run") || d.Offers("location.get") {
		t.Errorf("offers the wrong commands: %+v", d)
	}
	if got := d.Unapproved(); !slices.Equal(got, []string{"system.run"}) {
		t.Errorf("unapproved %v, want system.run", got)
	}
	if !d.StateAt.Equal(c.now()) {
		t.Errorf("approved at %v, want %v", d.StateAt, c.now())
	}
	must(t, r.ApproveOnly(t.Context(), "node", []string{"system.run"}))
	if d, err := r.Device(t.Context(), "node"); err != nil || d.Offers("system.which") || !d.Offers("system.run") {
		t.Errorf("after an approval of system.run alone: %+v, %v", d, err)
	}
	if err := r.ApproveOnly(t.Context(), "node", []string{"sms.send"}); !errors.Is(err, registry.ErrNotAdvertised) {
		t.Errorf("ApproveOnly of what is not offered = %v, want ErrNotAdvertised", err)
	}
	must(t, r.ApproveOnly(t.Context(), "node", nil))
	state, approved, err := r.Standing(t.Context(), "node")
	if err != nil || state != registry.Approved || len(approved) != 0 {
		t.Errorf("Standing = %s, %v, %v, want approved with nothing", state, approved, err)
	}
	if _, _, err := r.Standing(t.Context(), "nobody"); !errors.Is(err, registry.ErrNoDevice) {
		t.Errorf("Standing of nobody = %v", err)
	}
}

// An installation that comes with another key may be set up anew, or somebody else: nothing is recorded, nobody is let in,
// and a person decides by revoking the old one.
func TestAChangedKeyIsRefused(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	advertise(t, r, "known", "system.which")
	must(t, r.Approve(t.Context(), "known"))
	other := registry.Declaration{ID: "other", PublicKey: "key-other", InstanceID: "installation-known", Commands: []string{"system.which"}}
	sameID := registry.Declaration{ID: "known", PublicKey: "key-other"}
	for name, d := range map[string]registry.Declaration{"another id under its installation": other, "another key under its id": sameID} {
		if _, err := r.Declare(t.Context(), d); !errors.Is(err, registry.ErrKeyChanged) {
			t.Errorf("%s: Declare = %v, want ErrKeyChanged", name, err)
		}
	}
	if _, err := r.Device(t.Context(), "other"); !errors.Is(err, registry.ErrNoDevice) {
		t.Errorf("the other one was recorded: %v", err)
	}
	must(t, r.Revoke(t.Context(), "known"))
	d, err := r.Declare(t.Context(), other)
	if err != nil || d.State != registry.Pending {
		t.Errorf("once the old one is revoked: %+v, %v, want pending", d, err)
	}
	must(t, r.Approve(t.Context(), "other"))
	if err := r.Approve(t.Context(), "known"); !errors.Is(err, registry.ErrKeyChanged) {
		t.Errorf("two keys of one installation were approved: %v", err)
	}
}

func TestRevokedListsWhoIsRevokedSince(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	for _, id := range []string{"long ago", "now", "back"} {
		advertise(t, r, id)
		must(t, r.Approve(t.Context(), id))
	}
	must(t, r.Revoke(t.Context(), "long ago"))
	c.pass(time.Minute)
	must(t, r.Revoke(t.Context(), "now"))
	must(t, r.Revoke(t.Context(), "back"))
	must(t, r.Approve(t.Context(), "back"))
	if got, err := r.Revoked(t.Context(), c.now().Add(-time.Second)); err != nil || !slices.Equal(got, []string{"now"}) {
		t.Errorf("Revoked = %v, %v, want the one that is revoked now", got, err)
	}
}

func TestASetupCodeLetsOneDeviceIn(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	advertise(t, r, "first", "system.which")
	advertise(t, r, "second", "system.which")
	code, expires, err := r.NewSetupCode(t.Context())
	must(t, err)
	if want := c.now().Add(10 * time.Minute); !expires.Equal(want) {
		t.Errorf("expires %v, want %v", expires, want)
	}
	redeem := func(device, code string, want error) {
		t.Helper()
		if err := r.Redeem(t.Context(), device, code); !errors.Is(err, want) {
			t.Errorf("Redeem(%s) = %v, want %v", device, err, want)
		}
		ok, err := r.SetupCodeValid(t.Context(), device, code)
		if must(t, err); ok != (want == nil) {
			t.Errorf("SetupCodeValid(%s) = %v", device, ok)
		}
	}
	redeem("first", code+"x", registry.ErrSetupCode)
	redeem("first", code, nil)
	redeem("first", code, nil) // the answer can be lost
	redeem("second", code, registry.ErrSetupCode)
	if d, err := r.Device(t.Context(), "first"); err != nil || d.State != registry.Approved || !d.Offers("system.which") {
		t.Errorf("the device is not let in: %+v, %v", d, err)
	}
	if d, err := r.Device(t.Context(), "second"); err != nil || d.State != registry.Pending {
		t.Errorf("the second: %+v, %v, want pending", d, err)
	}
	must(t, r.Revoke(t.Context(), "first"))
	redeem("first", code, registry.ErrSetupCode)
	late, _, err := r.NewSetupCode(t.Context())
	must(t, err)
	if err := r.Redeem(t.Context(), "first", late); !errors.Is(err, registry.ErrSetupCode) {
		t.Errorf("a code let a revoked device back in: %v", err)
	}
	c.pass(registry.SetupCodeFor)
	redeem("second", late, registry.ErrSetupCode)
}

// Of many devices that come with one code at once, one is let in.
func TestASetupCodeIsForOneOfMany(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	code, _, err := r.NewSetupCode(t.Context())
	must(t, err)
	const many = 8
	errs := make(chan error, many)
	for i := range many {
		id := string(rune('a' + i))
		advertise(t, r, id)
		go func() { errs <- r.Redeem(context.WithoutCancel(t.Context()), id, code) }()
	}
	in := 0
	for range many {
		if err := <-errs; err == nil {
			in++
		} else if !errors.Is(err, registry.ErrSetupCode) {
			t.Errorf("Redeem = %v", err)
		}
	}
	if in != 1 {
		t.Errorf("%d devices came in with one code", in)
	}
}

// Nobody who steals the registry can use what is in it: codes are kept as hashes.
func TestSetupCodesAreKeptAsHashes(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	r := openAt(t, place, newClock())
	code, _, err := r.NewSetupCode(t.Context())
	must(t, err)
	db := open(t, place)
	defer func() { must(t, db.Close()) }()
	var kept string
	must(t, db.QueryRowContext(t.Context(), `SELECT code_hash FROM setup_codes`).Scan(&kept))
	if kept == "" || kept == code {
		t.Errorf("kept %q of the code %q", kept, code)
	}
}
