package registry_test

import (
	"slices"
	"testing"
	"time"

	"errand/deviceio/registry"
)

// An invite is told the certificate of the gateways that are alive; of those that were alive last, while none is.
func TestCertificatesAreThoseOfTheGatewaysAlive(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t) // with a gateway that shows none
	shows := func(id string, s registry.Shown, ttl time.Duration) {
		t.Helper()
		if err := r.AddGateway(t.Context(), id, "deviceio@"+id, ttl); err != nil {
			t.Fatal(err)
		}
		if err := r.ShowCertificate(t.Context(), id, s); err != nil {
			t.Fatal(err)
		}
	}
	want := func(want ...registry.Shown) {
		t.Helper()
		if got, err := r.Certificates(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("Certificates = %+v, %v, want %+v", got, err, want)
		}
	}
	want(registry.Shown{})
	c.pass(time.Hour)
	old, now := registry.Shown{Fingerprint: "a"}, registry.Shown{Fingerprint: "b", Next: "c"}
	shows("gw-2", old, time.Second)
	c.pass(2 * time.Second)
	want(old)
	shows("gw-3", now, time.Minute)
	shows("gw-4", now, time.Minute)
	want(now)
	shows("gw-5", old, time.Minute)
	want(old, now)
}
