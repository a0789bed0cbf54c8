package certificate

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync/atomic"
	"time"
)

// lookEvery is how often a keeper looks whether an operator changed something.
const lookEvery = time.Second

// Keeper serves with the certificates of a store, and follows what becomes of them.
type Keeper struct {
	store    *Store
	log      *slog.Logger
	standing atomic.Pointer[Standing]
}

// Keep reads the store and keeps to it; an error is for whoever starts the gateway.
func Keep(store *Store, log *slog.Logger) (*Keeper, error) {
	st, err := store.Read()
	if err != nil {
		return nil, err
	}
	k := &Keeper{store: store, log: log}
	k.standing.Store(&st)
	return k, nil
}

// Standing is what is in use now, and what is next.
func (k *Keeper) Standing() Standing {
	st := *k.standing.Load()
	if st.Next != nil && !st.Next.From.After(k.store.now()) {
		return Standing{InUse: st.Next}
	}
	return st
}

// Config is what a TLS listener is made with. A WebSocket wants HTTP/1.1.
func (k *Keeper) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &k.Standing().InUse.TLS, nil }}
}

// Run looks for what an operator changed, until ctx ends, and calls changed with every standing that is another than the one before.
// What cannot be read changes nothing: it is logged once, and looked at again.
func (k *Keeper) Run(ctx context.Context, changed func(Standing)) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	told, complaint := k.Standing(), ""
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		st, err := k.store.Read()
		if err != nil {
			if err.Error() != complaint {
				complaint = err.Error()
				k.log.Error("the gateway's certificate cannot be read: it goes on with the one it has", "error", err)
			}
			st = k.Standing()
		} else {
			complaint = ""
			k.standing.Store(&st)
		}
		if st.differs(told) {
			told = st
			changed(st)
		}
	}
}

func (st Standing) differs(other Standing) bool {
	if st.InUse.Fingerprint != other.InUse.Fingerprint || (st.Next == nil) != (other.Next == nil) {
		return true
	}
	return st.Next != nil && (st.Next.Fingerprint != other.Next.Fingerprint || !st.Next.From.Equal(other.Next.From))
}
