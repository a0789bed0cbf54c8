package robot

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/unicode/norm"
)

// Home is the place the robot lives in, and what this model of robot can do there.
// Distances are metres, speeds metres per second, durations seconds of the world's own time
// (Options.Speed says how much faster than the wall clock that runs), air is µg/m³ of PM2.5.
type Home struct {
	Rooms []Room `yaml:"rooms"`
	// Alarms, Reminders, Lights and Doors are there at first start (objects.go). Default: none; DefaultHome has a few.
	Alarms    []Alarm    `yaml:"alarms"`
	Reminders []Reminder `yaml:"reminders"`
	Lights    []Light    `yaml:"lights"`
	Doors     []Door     `yaml:"doors"`

	// Station is the room with the charging station; it stands at the room's centre. Default: the first room.
	Station string `yaml:"station"`

	DriveSpeed float64 `yaml:"drive_speed"` // default 0.4
	// BrakeSeconds is how long the robot still rolls after it was told to stop. Default 0.6.
	BrakeSeconds float64 `yaml:"brake_seconds"`
	CleanSeconds float64 `yaml:"clean_seconds"` // of one room; default 60
	// CleanAir is what purifying aims at (default 12), OutdoorAir what every room slowly drifts to (default 75).
	CleanAir   float64 `yaml:"clean_air"`
	OutdoorAir float64 `yaml:"outdoor_air"`

	Battery    float64 `yaml:"battery"`     // at first start, 0 to 100; default 90
	LowBattery float64 `yaml:"low_battery"` // below it no new motion is admitted, save the way home; default 10

	// QueueLimit is how many tasks may wait; default 8.
	QueueLimit int `yaml:"queue_limit"`
	// Speakers are the registered voices that comeToMe obeys from rollout stage 1 on. Default: owner.
	Speakers []string `yaml:"speakers"`
	// AutoAnswer answers every question of assistant.ask: "first", "none" (the default) or a literal choice.
	AutoAnswer string `yaml:"auto_answer"`
}

// Room is one room of the map. X and Y are its centre.
type Room struct {
	ID   string  `yaml:"id"`
	Name string  `yaml:"name"`
	X    float64 `yaml:"x"`
	Y    float64 `yaml:"y"`
	PM25 float64 `yaml:"pm25"` // at first start
	// NoEntry makes the robot refuse to go there: MOVE_POLICY_NOT_ALLOWED.
	NoEntry bool `yaml:"no_entry"`
}

// ErrHome is wrapped by every complaint about a home file.
var ErrHome = errors.New("the home cannot be used")

// DefaultHome is a flat of six rooms around a living room with the charging station, with a few alarms, reminders, lights and
// doors.
func DefaultHome() Home {
	o := defaultObjects()
	return Home{Alarms: o.Alarms, Reminders: o.Reminders, Lights: o.Lights, Doors: o.Doors, Rooms: []Room{
		{ID: "1", Name: "거실", X: 0, Y: 0, PM25: 22},
		{ID: "2", Name: "부엌", X: 3.5, Y: 0, PM25: 35},
		{ID: "3", Name: "작은방", X: -3, Y: 2, PM25: 18},
		{ID: "4", Name: "서재", X: -3, Y: -2.5, PM25: 20},
		{ID: "5", Name: "욕실", X: 2, Y: 3.5, PM25: 15},
		{ID: "6", Name: "안방", X: 4, Y: -4, PM25: 48},
	}}.withDefaults()
}

// LoadHome reads a home from a YAML or JSON file; fields it leaves out get their defaults.
func LoadHome(path string) (Home, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Home{}, fmt.Errorf("%w: %w", ErrHome, err)
	}
	var h Home
	if err := yaml.UnmarshalWithOptions(text, &h, yaml.Strict()); err != nil {
		return Home{}, fmt.Errorf("%w: %s: %w", ErrHome, path, err)
	}
	h = h.withDefaults()
	if err := h.Check(); err != nil {
		return Home{}, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// withDefaults fills what was left out. Names are brought to Unicode NFC, so that a name typed as
// decomposed jamo finds its room (case c14).
func (h Home) withDefaults() Home {
	or := func(v *float64, fallback float64) {
		if *v == 0 {
			*v = fallback
		}
	}
	or(&h.DriveSpeed, 0.4)
	or(&h.BrakeSeconds, 0.6)
	or(&h.CleanSeconds, 60)
	or(&h.CleanAir, 12)
	or(&h.OutdoorAir, 75)
	or(&h.Battery, 90)
	or(&h.LowBattery, 10)
	if h.QueueLimit == 0 {
		h.QueueLimit = 8
	}
	if h.Speakers == nil {
		h.Speakers = []string{"owner"}
	}
	if h.AutoAnswer == "" {
		h.AutoAnswer = "none"
	}
	rooms := make([]Room, len(h.Rooms))
	for i, r := range h.Rooms {
		r.Name = norm.NFC.String(r.Name)
		rooms[i] = r
	}
	h.Rooms = rooms
	h.spellObjects()
	if h.Station == "" && len(rooms) > 0 {
		h.Station = rooms[0].ID
	}
	return h
}

// Check reports everything wrong with the home at once.
func (h Home) Check() error {
	var faults []error
	fault := func(path, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s: %s", ErrHome, path, fmt.Sprintf(format, args...)))
	}
	if len(h.Rooms) == 0 {
		fault("rooms", "list at least one room")
	}
	seen := map[string]bool{}
	for i, r := range h.Rooms {
		if r.ID == "" || r.Name == "" {
			fault(fmt.Sprintf("rooms[%d]", i), "give it an id and a name")
		}
		if seen[r.ID] {
			fault(fmt.Sprintf("rooms[%d].id", i), "%q is used twice", r.ID)
		}
		seen[r.ID] = true
	}
	if _, ok := h.Room(h.Station); !ok {
		fault("station", "%q is not a room id", h.Station)
	}
	if h.DriveSpeed <= 0 || h.BrakeSeconds < 0 || h.CleanSeconds <= 0 || h.QueueLimit < 1 {
		fault("", "speeds and durations must be positive, and the queue must hold at least one task")
	}
	if h.Battery < 0 || h.Battery > 100 || h.LowBattery < 0 || h.LowBattery > 100 {
		fault("battery", "levels go from 0 to 100")
	}
	h.checkObjects(fault)
	return errors.Join(faults...)
}

// Room finds a room by id.
func (h Home) Room(id string) (Room, bool) {
	for _, r := range h.Rooms {
		if r.ID == id {
			return r, true
		}
	}
	return Room{}, false
}

// RoomsNamed finds rooms by name. Two rooms may share one: then nobody guesses (case c10).
func (h Home) RoomsNamed(name string) []Room {
	name = norm.NFC.String(strings.TrimSpace(name))
	var found []Room
	for _, r := range h.Rooms {
		if r.Name == name {
			found = append(found, r)
		}
	}
	return found
}

// RoomAt is the room whose centre is nearest.
func (h Home) RoomAt(x, y float64) Room {
	nearest, best := h.Rooms[0], math.Inf(1)
	for _, r := range h.Rooms {
		if d := math.Hypot(r.X-x, r.Y-y); d < best {
			nearest, best = r, d
		}
	}
	return nearest
}
