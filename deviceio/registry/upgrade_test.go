package registry_test

import (
	"os"
	"testing"

	"github.com/pressly/goose/v3"

	"errand/deviceio/registry"
)

// A registry from before there was an approved surface: who was let in may go on with all that it advertised, and who was not
// stays out.
func TestAnOlderRegistryIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	db := open(t, place)
	dialect := goose.DialectSQLite3
	if registry.IsURL(place) {
		dialect = goose.DialectPostgres
	}
	migrations, err := goose.NewProvider(dialect, db, os.DirFS("schema"))
	must(t, err)
	_, err = migrations.UpTo(t.Context(), 1)
	must(t, err)
	for _, state := range []string{"approved", "pending", "revoked"} {
		_, err := db.ExecContext(t.Context(), `INSERT INTO devices (id, public_key, request_id, state, display_name, caps, commands, profile, store_id,
			retention_ms, created_at, last_seen_at) VALUES ('`+state+`', 'key', 'r', '`+state+`', 'robot', '[]', '["system.which"]', '{}', '', 0, 1, 2)`)
		must(t, err)
	}
	r := openAt(t, place, newClock())
	for state, want := range map[string]bool{"approved": true, "pending": false, "revoked": false} {
		if d, err := r.Device(t.Context(), state); err != nil || d.Offers("system.which") != want || string(d.State) != state || d.HomeID != registry.DefaultHome {
			t.Errorf("%s: %+v, %v", state, d, err)
		}
	}
	_, err = migrations.DownTo(t.Context(), 0) // and every step has its way back
	must(t, err)
	must(t, db.Close())
}
