package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Token is one credential of the API and whose it is.
type Token struct {
	// Owner is written where a request leaves a trace: who cancelled, who answered.
	Owner  string
	Secret string
}

// minSecret is the shortest secret that is accepted, in bytes. A guessable token in front of a moving robot is no token.
const minSecret = 16

// guard lets only requests with a known token through.
type guard struct {
	owners []string
	sums   [][sha256.Size]byte
	next   http.Handler
}

func newGuard(tokens []Token, next http.Handler) (*guard, error) {
	if len(tokens) == 0 {
		return nil, errors.New("the API needs at least one token")
	}
	g := &guard{next: next}
	for _, t := range tokens {
		if len(t.Secret) < minSecret {
			return nil, fmt.Errorf("the API token of %q has %d bytes, needs at least %d: make one with `openssl rand -hex 32`",
				t.Owner, len(t.Secret), minSecret)
		}
		g.owners = append(g.owners, t.Owner)
		g.sums = append(g.sums, sha256.Sum256([]byte(t.Secret)))
	}
	return g, nil
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	owner, ok := g.owner(r.Header.Get("Authorization"))
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="errand"`)
		problem(http.StatusUnauthorized, "unauthorized",
			"this needs the header `Authorization: Bearer TOKEN` with a token of this API; `errand dev` prints one").write(w)
		return
	}
	g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ownerKey{}, owner)))
}

// owner finds whose token it is. Hashes of equal length are compared, all of them and in constant time, so that the
// time it takes tells nothing about any token.
func (g *guard) owner(header string) (owner string, ok bool) {
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	for i := range g.sums {
		if subtle.ConstantTimeCompare(sum[:], g.sums[i][:]) == 1 {
			owner, ok = g.owners[i], true
		}
	}
	return owner, ok
}

type ownerKey struct{}

// caller is the owner of the token the request came with.
func caller(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string) // always there: the guard is in front of every route
	return owner
}
