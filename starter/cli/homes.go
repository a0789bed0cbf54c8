package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"errand/deviceio/registry"
	"errand/starter/api"
)

// The names of rights, as they are given and printed.
const (
	mayCommand = "command"
	mayConfirm = "confirm"
	mayHear    = "hear"
)

// rightsOf reads the names of rights.
func rightsOf(names []string) (r registry.Rights, err error) {
	for _, name := range names {
		switch strings.TrimSpace(name) {
		case mayCommand:
			r.Command = true
		case mayConfirm:
			r.Confirm = true
		case mayHear:
			r.Hear = true
		case "nothing", "":
		default:
			return r, input("%q is no right: use command, confirm, hear or nothing, separated by commas", name)
		}
	}
	return r, nil
}

// rightNames is the reverse of rightsOf.
func rightNames(r registry.Rights) string {
	var names []string
	for name, has := range map[string]bool{mayCommand: r.Command, mayConfirm: r.Confirm, mayHear: r.Hear} {
		if has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return orDash(strings.Join(names, ","))
}

type homeAdd struct {
	ID    string   `arg:"" help:"Home id: a–z, 0–9, - and _."`
	Name  string   `help:"What people call it."`
	Voice []string `default:"command,hear" help:"What a voice at its devices may do that nobody knows: command, confirm, hear, or nothing; separate them by commas."`
}

// Run makes the home.
func (h *homeAdd) Run(s *session) error {
	voice, err := rightsOf(h.Voice)
	if err != nil {
		return err
	}
	var made registry.Home
	if err := send(s, "/v1/homes", api.HomeBody{ID: h.ID, Name: h.Name, Voice: voice}, &made); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "home %s; a voice that nobody knows may there: %s\n", clean(made.ID), rightNames(made.Voice))
	return nil
}

type homeList struct{}

// Run prints a line for each home.
func (homeList) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var list api.HomeList
	if err := c.get(s.ctx, "/v1/homes", &list); err != nil {
		return err
	}
	rows := [][]string{{"HOME", "UNKNOWN VOICES MAY", "NAME"}}
	for _, h := range list.Homes {
		rows = append(rows, []string{clean(h.ID), rightNames(h.Voice), orDash(oneLine(h.Name))})
	}
	table(s.stdout, rows)
	return nil
}

type userAdd struct {
	ID      string   `arg:"" help:"User id: a–z, 0–9, - and _. It is on record wherever the user asks or answers."`
	Home    string   `required:"" help:"Home id."`
	Name    string   `help:"What people call the user."`
	May     []string `required:"" help:"What the user may do: command, confirm, hear; separate them by commas."`
	Speaker []string `help:"Speaker ids by which the devices of the home know the voice; separate them by commas."`
	Owner   string   `help:"The user comes with the configured token of this owner (ERRAND_TOKENS); no token is made."`
}

// Run adds the user and prints the token.
func (u *userAdd) Run(s *session) error {
	rights, err := rightsOf(u.May)
	if err != nil {
		return err
	}
	var made api.NewUser
	err = send(s, "/v1/users", api.UserBody{ID: u.ID, HomeID: u.Home, Name: u.Name, Rights: rights, Speakers: u.Speaker, TokenOwner: u.Owner}, &made)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "user %s of home %s may: %s\n", clean(made.ID), clean(made.HomeID), rightNames(made.Rights))
	if made.Token != "" {
		fmt.Fprintf(s.stdout, "token %s\nit is shown this once: it is what the user's ERRAND_TOKEN is\n", clean(made.Token))
	}
	return nil
}

type userList struct {
	Home string `help:"Only users of this home."`
}

// Run prints a line for each user.
func (u *userList) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var list api.UserList
	if err := c.get(s.ctx, "/v1/users?home="+url.QueryEscape(u.Home), &list); err != nil {
		return err
	}
	rows := [][]string{{"USER", "HOME", "MAY", "SPEAKERS", "TOKEN", "NAME"}}
	for _, v := range list.Users {
		token := "own"
		if v.TokenOwner != "" {
			token = "of " + v.TokenOwner
		}
		rows = append(rows, []string{clean(v.ID), clean(v.HomeID), rightNames(v.Rights), orDash(oneLine(strings.Join(v.Speakers, ","))), clean(token), orDash(oneLine(v.Name))})
	}
	table(s.stdout, rows)
	return nil
}

type userRemove struct {
	ID string `arg:"" help:"User id."`
}

// Run removes the user.
func (u *userRemove) Run(s *session) error {
	var removed registry.User
	if err := send(s, "/v1/users/"+url.PathEscape(u.ID)+"/remove", nil, &removed); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "user %s of home %s is removed\n", clean(removed.ID), clean(removed.HomeID))
	return nil
}

type deviceMove struct {
	Device string `arg:"" help:"Device id or friendly name."`
	Home   string `arg:"" help:"Home id."`
}

// Run moves the device.
func (d *deviceMove) Run(s *session) error {
	var moved registry.Device
	if err := send(s, "/v1/devices/"+url.PathEscape(d.Device)+"/move", api.MoveBody{HomeID: d.Home}, &moved); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s is in home %s\n", clean(moved.ID), clean(moved.HomeID))
	return nil
}

// send posts a request, nil for an empty body, and reads the answer.
func send(s *session, path string, request, answer any) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var body []byte
	if request != nil {
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
	return c.post(s.ctx, path, body, answer)
}
