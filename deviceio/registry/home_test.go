package registry_test

import (
	"errors"
	"slices"
	"testing"

	"errand/deviceio/registry"
)

// Everything from before there were homes is in the default one, whose voices may do all.
func TestADeviceIsInTheDefaultHomeUntilItIsMoved(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	ctx := t.Context()
	if home, err := r.HomeOf(ctx, "robot"); err != nil || home.ID != registry.DefaultHome || home.Voice != registry.All() {
		t.Fatalf("HomeOf = %+v, %v", home, err)
	}
	must(t, r.SetHome(ctx, registry.Home{ID: "kim", Name: "김씨네", Voice: registry.Rights{Command: true}}))
	must(t, r.MoveDevice(ctx, "robot", "kim"))
	must(t, declare(ctx, r, "robot")) // it comes back: nothing it says of itself moves it
	d, err := r.Device(ctx, "robot")
	if home, _ := r.HomeOf(ctx, "robot"); err != nil || d.HomeID != "kim" || home.Name != "김씨네" || home.Voice != (registry.Rights{Command: true}) {
		t.Errorf("moved: %+v, %+v, %v", d, home, err)
	}
	must(t, r.SetHome(ctx, registry.Home{ID: "kim", Name: "김씨네", Voice: registry.Rights{Hear: true}}))
	homes, err := r.Homes(ctx)
	if err != nil || len(homes) != 2 || homes[0].ID != registry.DefaultHome || homes[1].Voice != (registry.Rights{Hear: true}) {
		t.Errorf("Homes = %+v, %v", homes, err)
	}
	if err := r.MoveDevice(ctx, "robot", "lee"); !errors.Is(err, registry.ErrNoHome) {
		t.Errorf("moved to a home that is not there: %v", err)
	}
	if err := r.MoveDevice(ctx, "ghost", "kim"); !errors.Is(err, registry.ErrNoDevice) {
		t.Errorf("moved a device that is not there: %v", err)
	}
	if _, err := r.Home(ctx, "lee"); !errors.Is(err, registry.ErrNoHome) {
		t.Errorf("Home = %v", err)
	}
	if _, err := r.HomeOf(ctx, "ghost"); !errors.Is(err, registry.ErrNoDevice) {
		t.Errorf("HomeOf = %v", err)
	}
}

func TestAUserIsFoundByTokenByOwnerAndByVoice(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	ctx := t.Context()
	must(t, r.SetHome(ctx, registry.Home{ID: "kim", Voice: registry.Rights{Hear: true}}))
	must(t, r.MoveDevice(ctx, "robot", "kim"))
	mina := registry.User{ID: "mina", HomeID: "kim", Name: "미나", Rights: registry.Rights{Command: true, Hear: true}, Speakers: []string{"s-2", "s-1"}}
	token, err := r.AddUser(ctx, mina)
	must(t, err)
	none, err := r.AddUser(ctx, registry.User{ID: "joon", HomeID: "kim", Rights: registry.All(), TokenOwner: "joon-phone"})
	if err != nil || none != "" {
		t.Errorf("one with a configured token got %q, %v", none, err)
	}
	u, ok, err := r.UserByToken(ctx, token)
	if err != nil || !ok || u.ID != "mina" || u.HomeID != "kim" || u.Name != "미나" || u.Rights != mina.Rights || !slices.Equal(u.Speakers, []string{"s-1", "s-2"}) {
		t.Errorf("by token: %+v, %v, %v", u, ok, err)
	}
	if u, ok, err := r.UserByOwner(ctx, "joon-phone"); err != nil || !ok || u.ID != "joon" || len(u.Speakers) != 0 {
		t.Errorf("by owner: %+v, %v, %v", u, ok, err)
	}
	for name, find := range map[string]func() (registry.User, bool, error){
		"no token": func() (registry.User, bool, error) { return r.UserByToken(ctx, "") },
		"no owner": func() (registry.User, bool, error) { return r.UserByOwner(ctx, "") },
		"other":    func() (registry.User, bool, error) { return r.UserByToken(ctx, token+"x") },
	} {
		if u, ok, err := find(); ok || err != nil {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	for speaker, want := range map[string]registry.Voice{
		"s-1": {HomeID: "kim", By: "mina", Rights: mina.Rights},
		"s-9": {HomeID: "kim", By: "voice:robot", Rights: registry.Rights{Hear: true}},
		"":    {HomeID: "kim", By: "voice:robot", Rights: registry.Rights{Hear: true}},
	} {
		if got, err := r.VoiceAt(ctx, "robot", speaker); err != nil || got != want {
			t.Errorf("speaker %q: %+v, %v", speaker, got, err)
		}
	}
	must(t, r.MoveDevice(ctx, "robot", registry.DefaultHome)) // there nobody is s-1
	if got, err := r.VoiceAt(ctx, "robot", "s-1"); err != nil || got.By != "voice:robot" || got.Rights != registry.All() {
		t.Errorf("in another home: %+v, %v", got, err)
	}
	users, err := r.Users(ctx, "kim")
	if all, _ := r.Users(ctx, ""); err != nil || len(users) != 2 || len(all) != 2 {
		t.Errorf("Users = %+v, %v", users, err)
	}
	must(t, r.RemoveUser(ctx, "mina"))
	if _, ok, err := r.UserByToken(ctx, token); ok || err != nil {
		t.Errorf("a removed user's token: %v, %v", ok, err)
	}
	if err := r.RemoveUser(ctx, "mina"); !errors.Is(err, registry.ErrNoUser) {
		t.Errorf("removed twice: %v", err)
	}
	_, err = r.AddUser(ctx, mina) // and may come again, under the same id
	must(t, err)
}

func TestWhatIsAnothersNoUserGets(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	ctx := t.Context()
	must(t, r.SetHome(ctx, registry.Home{ID: "kim"}))
	_, err := r.AddUser(ctx, registry.User{ID: "mina", HomeID: "kim", TokenOwner: "phone", Speakers: []string{"s-1"}})
	must(t, err)
	for name, u := range map[string]registry.User{
		"id":      {ID: "mina", HomeID: registry.DefaultHome},
		"owner":   {ID: "joon", HomeID: registry.DefaultHome, TokenOwner: "phone"},
		"speaker": {ID: "joon", HomeID: "kim", Speakers: []string{"s-2", "s-1"}},
	} {
		if _, err := r.AddUser(ctx, u); !errors.Is(err, registry.ErrUserTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.AddUser(ctx, registry.User{ID: "joon", HomeID: "lee"}); !errors.Is(err, registry.ErrNoHome) {
		t.Errorf("in a home that is not there: %v", err)
	}
	if users, err := r.Users(ctx, ""); err != nil || len(users) != 1 {
		t.Errorf("Users = %+v, %v", users, err)
	}
	if _, err := r.AddUser(ctx, registry.User{ID: "joon", HomeID: registry.DefaultHome, Speakers: []string{"s-1", "s-2"}}); err != nil {
		t.Errorf("the same speaker in another home: %v", err)
	}
}
