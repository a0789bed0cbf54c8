package robot

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Objects is what the robot keeps or switches for the home it assists, besides its own body: alarms, reminders, lights and
// doors. Each has an id that is never given again, not even after it is gone, and a revision that changes with every change of
// it: a plan that was confirmed for one state of an object is refused in another.
type Objects struct {
	Alarms    []Alarm    `json:"alarms"`
	Reminders []Reminder `json:"reminders"`
	Lights    []Light    `json:"lights"`
	Doors     []Door     `json:"doors"`
	// Changes counts every change of any of them. It only grows, so the ids and revisions made of it come once.
	Changes int64 `json:"changes"`
}

// Object is what every object has.
type Object struct {
	ID       string `json:"id" yaml:"id"`
	Revision string `json:"revision" yaml:"-"`
}

// Alarm rings at a time of each day.
type Alarm struct {
	Object  `yaml:",inline"`
	Time    string `json:"time" yaml:"time"` // "07:00", 24 hours
	Label   string `json:"label" yaml:"label"`
	Enabled bool   `json:"enabled" yaml:"enabled"`
}

// Reminder is a note for a moment, or for none.
type Reminder struct {
	Object `yaml:",inline"`
	Text   string `json:"text" yaml:"text"`
	Due    string `json:"due" yaml:"due"` // "2026-12-02T09:00", on the home's own clock; "" is whenever
	Done   bool   `json:"done" yaml:"done"`
}

// Light is a lamp. Two may share a name: their rooms tell them apart.
type Light struct {
	Object   `yaml:",inline"`
	Name     string `json:"name" yaml:"name"`
	RoomName string `json:"room_name" yaml:"room_name"`
	On       bool   `json:"on" yaml:"on"`
}

// Door is a door with a lock. Whoever opens and closes it does so by hand; the robot only turns the lock.
type Door struct {
	Object   `yaml:",inline"`
	Name     string `json:"name" yaml:"name"`
	RoomName string `json:"room_name" yaml:"room_name"`
	Locked   bool   `json:"locked" yaml:"locked"`
	Open     bool   `json:"open" yaml:"open"`
}

// Kind is what sort of thing an object is. The area of the planning context and its source are named by it ("alarms"), and so
// is the parameter by which a task names one ("alarm_id").
type Kind string

// The kinds of objects.
const (
	KindAlarm    Kind = "alarm"
	KindReminder Kind = "reminder"
	KindLight    Kind = "light"
	KindDoor     Kind = "door"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{KindAlarm, KindReminder, KindLight, KindDoor} }

func (k Kind) area() string      { return string(k) + "s" }
func (k Kind) parameter() string { return string(k) + "_id" }

// newPrefix begins the ids of objects made while the robot runs. A home file may not use it, so none comes twice.
const newPrefix = "new-"

var (
	objectID  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	alarmTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
)

// dueLayout is how a reminder tells its moment.
const dueLayout = "2006-01-02T15:04"

// maxName bounds names, labels and notes, in characters; maxObjects how many there may be of a kind.
const (
	maxName    = 64
	maxNote    = 200
	maxObjects = 100
)

// ErrObject is wrapped by every complaint about an object.
var ErrObject = errors.New("no such object can be")

// list is one kind's objects, whatever their type.
type list interface {
	// find returns the one with the id, or nil.
	find(id string) item
	remove(id string)
	// add appends one that is made of fields, as JSON, and returns it.
	add(id string, fields []byte) (item, error)
	size() int
}

// item is one object.
type item interface {
	object() *Object
	check() error
}

func (o *Object) object() *Object { return o }

// pointer is *T, which is an item.
type pointer[T any] interface {
	*T
	item
}

type listOf[T any, P pointer[T]] struct{ all *[]T }

func (l listOf[T, P]) index(id string) int {
	return slices.IndexFunc(*l.all, func(v T) bool { return P(&v).object().ID == id })
}

func (l listOf[T, P]) find(id string) item {
	if i := l.index(id); i >= 0 {
		return P(&(*l.all)[i])
	}
	return nil
}

func (l listOf[T, P]) remove(id string) {
	if i := l.index(id); i >= 0 {
		*l.all = slices.Delete(*l.all, i, i+1)
	}
}

func (l listOf[T, P]) add(id string, fields []byte) (item, error) {
	v := P(new(T))
	if err := refill(v, fields); err != nil {
		return nil, err
	}
	v.object().ID = id
	*l.all = append(*l.all, *v)
	return l.find(id), nil
}

func (l listOf[T, P]) size() int { return len(*l.all) }

// of is the list of a kind; nil for what is no kind.
func (o *Objects) of(k Kind) list {
	switch k {
	case KindAlarm:
		return listOf[Alarm, *Alarm]{&o.Alarms}
	case KindReminder:
		return listOf[Reminder, *Reminder]{&o.Reminders}
	case KindLight:
		return listOf[Light, *Light]{&o.Lights}
	case KindDoor:
		return listOf[Door, *Door]{&o.Doors}
	}
	return nil
}

// clone shares nothing with the original.
func (o Objects) clone() Objects {
	o.Alarms, o.Reminders, o.Lights, o.Doors = slices.Clone(o.Alarms), slices.Clone(o.Reminders), slices.Clone(o.Lights), slices.Clone(o.Doors)
	return o
}

// mark counts a change, and gives the object of it, if there is one, a new revision.
func (o *Objects) mark(of item) {
	o.Changes++
	if of != nil {
		of.object().Revision = "r" + strconv.FormatInt(o.Changes, 10)
	}
}

// create adds an object of a kind.
func (o *Objects) create(k Kind, fields map[string]any) (item, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrObject, err)
	}
	if o.of(k).size() >= maxObjects {
		return nil, fmt.Errorf("%w: there are %d of it already, and no room for more", ErrObject, maxObjects)
	}
	made, err := o.of(k).add(newPrefix+strconv.FormatInt(o.Changes+1, 10), text)
	if err == nil {
		o.mark(made)
	}
	return made, err
}

// refill puts fields over an object's own. What does not make sense leaves it as it was.
func refill[P pointer[T], T any](v P, fields []byte) error {
	twin := *v
	decoder := json.NewDecoder(strings.NewReader(string(fields)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&twin); err != nil {
		return fmt.Errorf("%w: %w", ErrObject, err)
	}
	if *P(&twin).object() != *v.object() {
		return fmt.Errorf("%w: id and revision are not for setting", ErrObject)
	}
	if err := P(&twin).check(); err != nil {
		return err
	}
	*v = twin
	return nil
}

// change puts fields over an object's own, and gives it a new revision.
func (o *Objects) change(of item, fields map[string]any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrObject, err)
	}
	switch v := of.(type) {
	case *Alarm:
		err = refill(v, text)
	case *Reminder:
		err = refill(v, text)
	case *Light:
		err = refill(v, text)
	case *Door:
		err = refill(v, text)
	}
	if err == nil {
		o.mark(of)
	}
	return err
}

// described is an object as a result tells it: its id under the name that tasks use, and its fields.
func described(k Kind, of item) map[string]any {
	fields := map[string]any{}
	if text, err := json.Marshal(of); err != nil || json.Unmarshal(text, &fields) != nil {
		return fields // texts and truths always encode
	}
	fields[k.parameter()] = fields["id"]
	delete(fields, "id")
	delete(fields, "revision")
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == "" })
	return fields
}

func (a *Alarm) check() error {
	a.Label = spelled(a.Label)
	if !alarmTime.MatchString(a.Time) {
		return fmt.Errorf("%w: time: want 24 hours such as 07:00, not %q", ErrObject, a.Time)
	}
	return short("label", a.Label, 0, maxName)
}

func (r *Reminder) check() error {
	r.Text = spelled(r.Text)
	if _, err := time.Parse(dueLayout, r.Due); err != nil && r.Due != "" {
		return fmt.Errorf("%w: due: want a moment such as 2026-12-02T09:00, not %q", ErrObject, r.Due)
	}
	return short("text", r.Text, 1, maxNote)
}

func (l *Light) check() error {
	l.Name, l.RoomName = spelled(l.Name), spelled(l.RoomName)
	return errors.Join(short("name", l.Name, 1, maxName), short("room_name", l.RoomName, 1, maxName))
}

func (d *Door) check() error {
	d.Name, d.RoomName = spelled(d.Name), spelled(d.RoomName)
	if d.Open && d.Locked {
		return fmt.Errorf("%w: locked: a door that is open cannot be locked", ErrObject)
	}
	return errors.Join(short("name", d.Name, 1, maxName), short("room_name", d.RoomName, 1, maxName))
}

// spelled brings text to the one spelling (case c14), and changes nothing else: a check looks for what was said.
func spelled(text string) string { return norm.NFC.String(text) }

// short checks the length of a text that is kept, in characters; one of spaces alone says nothing.
func short(field, text string, least, most int) error {
	n := utf8.RuneCountInString(text)
	if n > most || n < least || least > 0 && strings.TrimSpace(text) == "" {
		return fmt.Errorf("%w: %s: want %d to %d characters that say something, not %d", ErrObject, field, least, most, n)
	}
	return nil
}
