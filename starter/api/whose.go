package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"errand/deviceio/registry"
	"errand/plan"
)

// Whose a device is, is checked here, for every request that commands, confirms or hears (design §6, Who is speaking). A person
// has rights in one home. The owners of configured tokens who are no users of a home are its operators: they are people of the
// default home with every right, let devices in, move them, and say who the users are. Of other homes they command nothing
// and hear nothing; stopping what moves is open to them everywhere.

// right is what a request needs.
type right string

const (
	toCommand right = "command"
	toConfirm right = "confirm"
	toHear    right = "hear"
	// toStop needs any right at all: whoever has to do with a device may bring it to a standstill.
	toStop right = "stop"
	// toRelease is to command, or to be an operator: both can be asked to see that nothing moves.
	toRelease right = "release"
	// toLook is to hear, or to be an operator: a device is shown to those who administer it, its plans are not.
	toLook right = "look at"
	// toAdminister is an operator's alone.
	toAdminister right = "administer"
)

// person is who makes a request.
type person struct {
	// name is written where the request leaves a trace: the user's id, or the owner of the configured token.
	name     string
	operator bool
	home     string
	rights   registry.Rights
}

// may tells whether the person has a right over what is of a home.
func (p person) may(r right, homeID string) bool {
	rights := registry.Rights{}
	if homeID == p.home {
		rights = p.rights
	}
	return holds(rights, p.operator, r)
}

func holds(rights registry.Rights, operator bool, r right) bool {
	switch r {
	case toCommand:
		return rights.Command
	case toConfirm:
		return rights.Confirm
	case toHear:
		return rights.Hear
	case toStop:
		return operator || rights.Any()
	case toRelease:
		return operator || rights.Command
	case toLook:
		return operator || rights.Hear
	case toAdminister:
		return operator
	}
	return false
}

// who is the person that a request comes from, by what the registry says now.
func (a *API) who(ctx context.Context) (person, error) {
	c := credentialOf(ctx)
	u, ok, err := c.user(ctx, a.Registry)
	switch {
	case err != nil:
		return person{}, err
	case ok:
		return person{name: u.ID, home: u.HomeID, rights: u.Rights}, nil
	case c.owner != "":
		return person{name: c.owner, operator: true, home: registry.DefaultHome, rights: registry.All()}, nil
	}
	return person{}, unauthorized()
}

// allow finds who asks, and refuses unless they have the right over what is of the home.
func (a *API) allow(ctx context.Context, r right, homeID string) (person, error) {
	p, err := a.who(ctx)
	if err == nil && !p.may(r, homeID) {
		err = a.forbidden(ctx, p, r, homeID)
	}
	return p, err
}

// allowPlan is allow for a plan, which is of the home that its device was in when it was asked for.
func (a *API) allowPlan(ctx context.Context, r right, planID string) (person, error) {
	line, err := a.Plans.Find(ctx, planID)
	if err != nil {
		return person{}, err
	}
	return a.allow(ctx, r, plan.HomeOf(line.HomeID))
}

// administers is allow for what is of no home.
func (a *API) administers(ctx context.Context) (person, error) {
	p, err := a.who(ctx)
	if err == nil && !p.operator {
		err = problem(http.StatusForbidden, CodeForbidden, fmt.Sprintf(
			"%s is a user of home %q: devices, homes and users are administered with a token from the settings of the API (ERRAND_TOKEN)", p.name, p.home))
	}
	return p, err
}

// CodeForbidden is the code of the problem of whoever lacks a right.
const CodeForbidden = "not_allowed"

// forbidden says who may. The people of a home are named to each other and to operators, and to nobody else.
func (a *API) forbidden(ctx context.Context, p person, r right, homeID string) error {
	if homeID != p.home && !p.operator {
		return problem(http.StatusForbidden, CodeForbidden, fmt.Sprintf("%s is of home %q, and this is of another one: only its own people may %s it", p.name, p.home, r))
	}
	able, err := a.able(ctx, r, homeID)
	if err != nil {
		return err
	}
	names := "nobody"
	if len(able) > 0 {
		names = strings.Join(able, ", ")
	}
	return problem(http.StatusForbidden, CodeForbidden, fmt.Sprintf("%s may not %s what is of home %q; who may: %s", p.name, r, homeID, names))
}

// able lists who has a right over what is of a home.
func (a *API) able(ctx context.Context, r right, homeID string) (names []string, err error) {
	users, err := a.Registry.Users(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if u.HomeID == homeID && holds(u.Rights, false, r) {
			names = append(names, u.ID)
		}
	}
	for _, t := range a.Tokens {
		isUser := slices.ContainsFunc(users, func(u registry.User) bool { return u.TokenOwner == t.Owner })
		operator := person{operator: true, home: registry.DefaultHome, rights: registry.All()}
		if !isUser && operator.may(r, homeID) {
			names = append(names, t.Owner)
		}
	}
	return names, nil
}

// sees tells whether a person is told that a device is there.
func (p person) sees(d registry.Device) bool { return p.operator || p.home == d.HomeID }
