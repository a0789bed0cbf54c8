package registry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/catalog"
	"errand/deviceio/registry"
)

func TestPairingRequestStaysTheSame(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	must(t, declare(t.Context(), r, "new"))
	first, err := r.Device(t.Context(), "new")
	must(t, err)
	must(t, declare(t.Context(), r, "new"))
	again, err := r.Device(t.Context(), "new")
	must(t, err)
	if first.State != registry.Pending || first.RequestID == "" || again.RequestID != first.RequestID {
		t.Errorf("first %+v, again %+v: want one pending request", first, again)
	}
}

func TestARevokedDeviceChangesNothingOfItself(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	must(t, r.Revoke(t.Context(), "robot"))
	before, err := r.Device(t.Context(), "robot")
	must(t, err)
	c.pass(time.Hour)
	after, err := r.Declare(t.Context(), registry.Declaration{ID: "robot", PublicKey: "key-robot", DisplayName: "other", StoreID: "store-9"})
	must(t, err)
	if after.State != registry.Revoked || after.DisplayName != before.DisplayName || !after.LastSeenAt.Equal(before.LastSeenAt) {
		t.Errorf("after %+v, before %+v", after, before)
	}
	must(t, r.Approve(t.Context(), "robot"))
	if d, err := r.Device(t.Context(), "robot"); err != nil || d.State != registry.Approved {
		t.Errorf("state %q (%v) after a new approval", d.State, err)
	}
}

func TestUnknownDevicesAreNamedAsSuch(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	_, deviceErr := r.Device(t.Context(), "nobody")
	_, resolveErr := r.Resolve(t.Context(), "")
	for name, err := range map[string]error{
		"Device": deviceErr, "Resolve": resolveErr, "Approve": r.Approve(t.Context(), "nobody"), "Revoke": r.Revoke(t.Context(), "nobody"),
		"SetFriendlyName": r.SetFriendlyName(t.Context(), "nobody", "x"), "SetRooms": r.SetRooms(t.Context(), "nobody", nil, time.Now()),
	} {
		if !errors.Is(err, registry.ErrNoDevice) {
			t.Errorf("%s = %v, want ErrNoDevice", name, err)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	must(t, declare(t.Context(), r, "second"))
	must(t, r.SetFriendlyName(t.Context(), "second", "\u1100\u1165\u1109\u1175\u11af")) // 거실, decomposed
	for name, want := range map[string]string{"robot": "robot", "second": "second", "거실": "second"} {
		if d, err := r.Resolve(t.Context(), name); err != nil || d.ID != want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", name, d.ID, err, want)
		}
	}
	if _, err := r.Resolve(t.Context(), "Robot"); !errors.Is(err, registry.ErrAmbiguous) {
		t.Errorf("Resolve of a shared display name = %v, want ErrAmbiguous", err)
	}
	if err := r.SetFriendlyName(t.Context(), "robot", "거실"); !errors.Is(err, registry.ErrNameTaken) {
		t.Errorf("SetFriendlyName = %v, want ErrNameTaken", err)
	}
	must(t, r.Revoke(t.Context(), "second"))
	if d, err := r.Resolve(t.Context(), "Robot"); err != nil || d.ID != "robot" {
		t.Errorf("Resolve = %q, %v: a revoked device is nobody", d.ID, err)
	}
}

func TestRoomsAreKept(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	rooms := []catalog.Room{{ID: "6", Name: "안방"}, {ID: "7", Name: "거실"}}
	must(t, r.SetRooms(t.Context(), "robot", rooms, c.now()))
	must(t, declare(t.Context(), r, "robot"))
	listed, err := r.Devices(t.Context())
	must(t, err)
	if len(listed) != 1 || !slices.Equal(listed[0].Rooms, rooms) || !listed[0].RoomsAt.Equal(c.now()) {
		t.Errorf("Devices = %+v", listed)
	}
}

func TestTokensAreKeptAsHashesAndBoundToTheDevice(t *testing.T) {
	t.Parallel()
	c := newClock()
	path := newPlace(t)
	r := openAt(t, path, c)
	addRobot(t, r)
	must(t, declare(t.Context(), r, "second"))
	token, err := r.IssueToken(t.Context(), "robot")
	must(t, err)
	if !valid(t, r, "robot", token) || valid(t, r, "second", token) || valid(t, r, "robot", token+"x") {
		t.Error("a token must be valid for its own device only")
	}
	if strings.Contains(dump(t, path), token) {
		t.Error("the token itself is in the file")
	}
	for range 4 {
		c.pass(time.Second)
		_, err := r.IssueToken(t.Context(), "robot")
		must(t, err)
	}
	if valid(t, r, "robot", token) {
		t.Error("the fifth newest token still stands")
	}
	last, err := r.IssueToken(t.Context(), "robot")
	must(t, err)
	must(t, r.Revoke(t.Context(), "robot"))
	if valid(t, r, "robot", last) {
		t.Error("the token of a revoked device still stands")
	}
}

func valid(t *testing.T, r *registry.Registry, device, token string) bool {
	t.Helper()
	ok, err := r.TokenValid(t.Context(), device, token)
	must(t, err)
	return ok
}

func dump(t *testing.T, path string) string {
	t.Helper()
	db := open(t, path)
	defer func() { must(t, db.Close()) }()
	rows, err := db.QueryContext(t.Context(), `SELECT token_hash || ' ' || device_id FROM device_tokens`)
	must(t, err)
	defer func() { must(t, errors.Join(rows.Err(), rows.Close())) }()
	var all strings.Builder
	for rows.Next() {
		var row string
		must(t, rows.Scan(&row))
		all.WriteString(row + "\n")
	}
	return all.String()
}
