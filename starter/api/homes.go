package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
	"errand/internal/border"
	"errand/plan"
	"errand/starter/plans"
)

// HomeBody is the body of POST /v1/homes.
type HomeBody struct {
	ID    string          `json:"home_id" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" doc:"what the home is known by" example:"kim"`
	Name  string          `json:"name,omitempty" maxLength:"128" doc:"for people" example:"김씨네"`
	Voice registry.Rights `json:"voice,omitzero" doc:"what may be done by a voice at one of its devices that nobody knows. Default: nothing"`
}

// UserBody is the body of POST /v1/users.
type UserBody struct {
	ID     string `json:"user_id" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" doc:"on record wherever the user asks or answers" example:"mina"`
	HomeID string `json:"home_id" maxLength:"64" example:"kim"`
	Name   string `json:"name,omitempty" maxLength:"128" doc:"for people" example:"미나"`
	registry.Rights
	Speakers   []string `json:"speaker_ids,omitempty" maxItems:"32" doc:"how the devices of the home call the user's voice"`
	TokenOwner string   `json:"token_owner,omitempty" maxLength:"64" doc:"the user comes with the configured token of this owner (ERRAND_TOKENS), and gets none here"`
}

// MoveBody is the body of POST /v1/devices/{id}/move.
type MoveBody struct {
	HomeID string `json:"home_id" maxLength:"64" example:"kim"`
}

// HomeList is every home, the oldest first.
type HomeList struct {
	Homes []registry.Home `json:"homes"`
}

// UserList is users, the oldest first.
type UserList struct {
	Users []registry.User `json:"users"`
}

// NewUser is a user, and the token that is shown this once.
type NewUser struct {
	registry.User
	Token string `json:"token,omitempty" doc:"the user's token for this API; it is kept nowhere, so it cannot be shown again. Missing for one with a configured token"`
}

type (
	usersIn struct {
		Home string `query:"home" maxLength:"64" doc:"only users of this home"`
	}
	userIn struct {
		ID string `path:"id" doc:"user id"`
	}
	moveIn struct {
		body
		ID string `path:"id" doc:"device id or friendly name"`
	}
	homesOut   struct{ Body HomeList }
	homeOut    struct{ Body registry.Home }
	usersOut   struct{ Body UserList }
	newUserOut struct{ Body NewUser }
	userOut    struct{ Body registry.User }
)

func (a *API) homeRoutes() {
	get(a, huma.Operation{OperationID: "list-homes", Path: "/v1/homes", Summary: "List the homes", Errors: []int{401, 403, 503}}, a.homes)
	post[HomeBody](a, huma.Operation{OperationID: "set-home", Path: "/v1/homes", Summary: "Make a home, or change one",
		Description: "A home that is there gets the name and the rights of its voices anew. What a voice may do is asked where an answer comes through a " +
			"device; may_hear is also whether its devices say and ask anything.",
		Errors: []int{400, 401, 403, 413, 422, 503}}, a.setHome)
	get(a, huma.Operation{OperationID: "list-users", Path: "/v1/users", Summary: "List the users", Errors: []int{401, 403, 422, 503}}, a.users)
	post[UserBody](a, huma.Operation{OperationID: "add-user", Path: "/v1/users", DefaultStatus: http.StatusCreated, Summary: "Add a person to a home",
		Description: "With a right at least. The answer has the user's token, once.",
		Errors:      []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.addUser)
	register(a, huma.Operation{OperationID: "remove-user", Method: "POST", Path: "/v1/users/{id}/remove", Summary: "Remove a user",
		Description: "The user's token is void at once, and the devices of the home know the voice no more.",
		Errors:      []int{401, 403, 404, 503}}, a.removeUser)
	post[MoveBody](a, huma.Operation{OperationID: "move-device", Path: "/v1/devices/{id}/move", Summary: "Put a device in a home",
		Description: "Refused while a plan has or wants the device. Its plans so far stay those of the home that it leaves.",
		Errors:      []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.move)
}

func (a *API) homes(ctx context.Context, _ *struct{}) (*homesOut, error) {
	if _, err := a.administers(ctx); err != nil {
		return nil, err
	}
	all, err := a.Registry.Homes(ctx)
	return &homesOut{HomeList{Homes: append([]registry.Home{}, all...)}}, err
}

func (a *API) setHome(ctx context.Context, in *body) (*homeOut, error) {
	if _, err := a.administers(ctx); err != nil {
		return nil, err
	}
	var b HomeBody
	if err := border.Decode(in.RawBody, bodyLimits, homeSchema, &b); err != nil {
		return nil, refusal(err)
	}
	if err := a.Registry.SetHome(ctx, registry.Home{ID: b.ID, Name: b.Name, Voice: b.Voice}); err != nil {
		return nil, err
	}
	h, err := a.Registry.Home(ctx, b.ID)
	return &homeOut{h}, err
}

func (a *API) users(ctx context.Context, in *usersIn) (*usersOut, error) {
	if _, err := a.administers(ctx); err != nil {
		return nil, err
	}
	all, err := a.Registry.Users(ctx, in.Home)
	return &usersOut{UserList{Users: append([]registry.User{}, all...)}}, err
}

func (a *API) addUser(ctx context.Context, in *body) (*newUserOut, error) {
	p, err := a.administers(ctx)
	if err != nil {
		return nil, err
	}
	var b UserBody
	if err := border.Decode(in.RawBody, bodyLimits, userSchema, &b); err != nil {
		return nil, refusal(err)
	}
	if err := a.userFault(p, b); err != nil {
		return nil, err
	}
	u := registry.User{ID: b.ID, HomeID: b.HomeID, Name: b.Name, Rights: b.Rights, Speakers: b.Speakers, TokenOwner: b.TokenOwner}
	token, err := a.Registry.AddUser(ctx, u)
	switch {
	case errors.Is(err, registry.ErrNoHome):
		return nil, a.unknownHome(ctx, b.HomeID)
	case errors.Is(err, registry.ErrUserTaken):
		return nil, problem(http.StatusConflict, "user_taken", err.Error())
	case err != nil:
		return nil, err
	}
	all, err := a.Registry.Users(ctx, b.HomeID)
	if i := slices.IndexFunc(all, func(u registry.User) bool { return u.ID == b.ID }); err == nil && i >= 0 {
		u = all[i]
	}
	return &newUserOut{NewUser{User: u, Token: token}}, nil // the token must not be lost with a list that cannot be read
}

// userFault is what the schema cannot say of a user.
func (a *API) userFault(p person, b UserBody) error {
	owned := func(owner string) bool {
		return slices.ContainsFunc(a.Tokens, func(t Token) bool { return t.Owner == owner })
	}
	switch {
	case !b.Any():
		return refusal(border.Faults{{Path: "may_command", Code: "no_rights", Message: "give a right at least: may_command, may_confirm or may_hear"}})
	case b.TokenOwner == p.name:
		return problem(http.StatusConflict, "own_token", "this is the token that you come with: as a user of a home it would administer nothing any more")
	case b.TokenOwner != "" && !owned(b.TokenOwner):
		return refusal(border.Faults{{Path: "token_owner", Code: "unknown", Message: "no configured token has this owner (ERRAND_TOKENS)"}})
	case b.ID != b.TokenOwner && owned(b.ID):
		return problem(http.StatusConflict, "user_taken", fmt.Sprintf("%q is the owner of a configured token, who would be on record under the same name", b.ID))
	}
	return nil
}

func (a *API) removeUser(ctx context.Context, in *userIn) (*userOut, error) {
	if _, err := a.administers(ctx); err != nil {
		return nil, err
	}
	all, err := a.Registry.Users(ctx, "")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(u registry.User) bool { return u.ID == in.ID })
	if i >= 0 {
		err = a.Registry.RemoveUser(ctx, in.ID)
	}
	if i < 0 || errors.Is(err, registry.ErrNoUser) {
		return nil, problem(http.StatusNotFound, "unknown_user", fmt.Sprintf("no user has the id %q; GET /v1/users lists them", in.ID))
	}
	return &userOut{all[i]}, err
}

func (a *API) unknownHome(ctx context.Context, id string) error {
	all, err := a.Registry.Homes(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(all))
	for i, h := range all {
		ids[i] = h.ID
	}
	return problem(http.StatusNotFound, "unknown_home", fmt.Sprintf("no home has the id %q; there are: %s", id, strings.Join(ids, ", ")))
}

// move puts a device in another home, once nothing is under way on it. A plan that begins in the same moment does nothing there: the
// gateway asks for each movement and each word whether the device is still in the plan's home; and it is cancelled here.
func (a *API) move(ctx context.Context, in *moveIn) (*deviceOut, error) {
	p, err := a.administers(ctx)
	if err != nil {
		return nil, err
	}
	var b MoveBody
	if err := border.Decode(in.RawBody, bodyLimits, moveSchema, &b); err != nil {
		return nil, refusal(err)
	}
	d, err := a.anyDevice(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if d.HomeID == b.HomeID {
		return &deviceOut{d}, nil
	}
	if err := a.idleDevice(ctx, d); err != nil {
		return nil, err
	}
	if err := a.Registry.MoveDevice(ctx, d.ID, b.HomeID); errors.Is(err, registry.ErrNoHome) {
		return nil, a.unknownHome(ctx, b.HomeID)
	} else if err != nil {
		return nil, err
	}
	if err := a.endPlansOf(ctx, d, p); err != nil {
		return nil, err
	}
	d, err = a.Registry.Device(ctx, d.ID)
	return &deviceOut{d}, err
}

// idleDevice refuses a device that something is under way on, as far as anybody knows.
func (a *API) idleDevice(ctx context.Context, d registry.Device) error {
	ids, err := a.underWay(ctx, d.ID)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		return problem(http.StatusConflict, "plans_under_way", fmt.Sprintf("%s is at plans of home %q: wait for them or cancel them first: %s",
			d.Name(), d.HomeID, strings.Join(ids, ", ")))
	}
	standing, err := a.Plans.Lease(ctx, d.ID)
	if err == nil && standing.Quarantine != nil {
		return problem(http.StatusConflict, "quarantined", fmt.Sprintf("nobody knows whether %s stands still: wait until it says so, or forget it first", d.Name()))
	}
	return err
}

// endPlansOf cancels what began on a device of the home that it was in before, while it was moved.
func (a *API) endPlansOf(ctx context.Context, d registry.Device, by person) error {
	ids, err := a.underWay(ctx, d.ID)
	for _, id := range ids {
		line, notFound := a.Plans.Find(ctx, id)
		if notFound != nil || plan.HomeOf(line.HomeID) != d.HomeID {
			continue
		}
		cancelled := a.Plans.Cancel(ctx, id, plan.CancelRequest{By: by.name, Why: "its device was moved to another home", Source: "api"})
		if !errors.Is(cancelled, plans.ErrOver) && !errors.Is(cancelled, plans.ErrNoPlan) {
			err = errors.Join(err, cancelled)
		}
	}
	return err
}
