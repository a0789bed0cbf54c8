package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"errand/deviceio/registry"
)

// Token is one configured credential of the API and whose it is. The users that the registry knows have tokens of their own.
type Token struct {
	// Owner is written where a request leaves a trace: who cancelled, who answered. Unless a user of a home goes by it, the
	// owner is an operator.
	Owner  string
	Secret string
}

// minSecret is the shortest secret that is accepted, in bytes. A guessable token in front of a moving robot is no token.
const minSecret = 16

// users is where the tokens of users are found.
type users interface {
	UserByToken(ctx context.Context, token string) (u registry.User, ok bool, err error)
	UserByOwner(ctx context.Context, owner string) (u registry.User, ok bool, err error)
}

// credential is what a request came with: a configured token's owner, or a token that is a user's.
type credential struct{ owner, secret string }

// user finds the user of a home who comes with it; ok is false for an operator, and for a token that is void by now.
func (c credential) user(ctx context.Context, in users) (registry.User, bool, error) {
	if c.owner != "" {
		return in.UserByOwner(ctx, c.owner)
	}
	return in.UserByToken(ctx, c.secret)
}

// guard lets only requests with a known token through.
type guard struct {
	owners []string
	sums   [][sha256.Size]byte
	users  users
	log    *slog.Logger
	next   http.Handler
}

func newGuard(tokens []Token, in users, log *slog.Logger, next http.Handler) (*guard, error) {
	if len(tokens) == 0 {
		return nil, errors.New("the API needs at least one token")
	}
	g := &guard{users: in, log: log, next: next}
	for _, t := range tokens {
		switch {
		case t.Owner == "":
			return nil, errors.New("an API token has no owner")
		case len(t.Secret) < minSecret:
			return nil, fmt.Errorf("the API token of %q has %d bytes, needs at least %d: make one with `openssl rand -hex 32`",
				t.Owner, len(t.Secret), minSecret)
		}
		if owner, taken := g.owner(t.Secret); taken {
			return nil, fmt.Errorf("the API tokens of %q and %q are the same: nobody could tell who asks", owner, t.Owner)
		}
		g.owners = append(g.owners, t.Owner)
		g.sums = append(g.sums, sha256.Sum256([]byte(t.Secret)))
	}
	return g, nil
}

func unauthorized() *Problem {
	return problem(http.StatusUnauthorized, "unauthorized",
		"this needs the header `Authorization: Bearer TOKEN` with a token of this API; `errand dev` prints one, and `errand user add` makes one for a user")
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secret, ok := bearer(r.Header.Get("Authorization"))
	c := credential{}
	if ok {
		c.owner, ok = g.owner(secret)
		if !ok {
			var err error
			c.secret = secret
			if _, ok, err = c.user(r.Context(), g.users); err != nil {
				g.log.ErrorContext(r.Context(), "whose a token is could not be found out", "error", err)
				problem(http.StatusServiceUnavailable, "unavailable", "the registry does not say now whose token this is: try again").write(w)
				return
			}
		}
	}
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="errand"`)
		unauthorized().write(w)
		return
	}
	g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), credentialKey{}, c)))
}

func bearer(header string) (secret string, ok bool) {
	scheme, secret, _ := strings.Cut(header, " ")
	return strings.TrimSpace(secret), strings.EqualFold(scheme, "Bearer")
}

// owner finds whose configured token it is. Hashes of equal length are compared, all of them and in constant time, so that the
// time it takes tells nothing about any token.
func (g *guard) owner(secret string) (owner string, ok bool) {
	sum := sha256.Sum256([]byte(secret))
	for i := range g.sums {
		if subtle.ConstantTimeCompare(sum[:], g.sums[i][:]) == 1 {
			owner, ok = g.owners[i], true
		}
	}
	return owner, ok
}

type credentialKey struct{}

// credentialOf is what the request came with.
func credentialOf(ctx context.Context) credential {
	c, _ := ctx.Value(credentialKey{}).(credential) // always there: the guard is in front of every route
	return c
}
