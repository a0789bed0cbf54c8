package robot

// World is everything physical, at one moment. Only the physics changes it, and it is stored in the same
// transaction as whatever the change means for a task (ledger.go).
type World struct {
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Battery float64 `json:"battery"` // 0 to 100
	Docked  bool    `json:"docked"`  // on the charging station
	// Air is by room id.
	Air map[string]Air `json:"air"`
	// Target is the room the robot last set out for.
	Target   string   `json:"target,omitempty"`
	Cleaned  Cleaned  `json:"cleaned"`
	Security Security `json:"security"`
	// Stopped says that the emergency stop on the robot is pressed.
	Stopped bool `json:"stopped,omitempty"`
	// MovedAt is when the wheels last turned (Unix ms, device clock): nothing moves after a reported outcome (law 15).
	MovedAt int64 `json:"moved_at"`
	// Revision grows by one with every change a plan could have relied on: a task's start, its end, an effect.
	Revision int64 `json:"revision"`
	// ElapsedMs is the world's own time since its beginning. It runs Options.Speed times as fast as the clock.
	ElapsedMs int64 `json:"elapsed_ms"`
	// Sensed is what the sensors last measured; it lags behind the truth, and stays when a sensor dies.
	Sensed Sensed `json:"sensed"`
	// Sources says when each source of the planning context was last observed, by its name.
	Sources map[string]int64 `json:"sources"`
	// Objects is what it keeps for the home: alarms, lights and the like (objects.go). Nil in a world from before there were any.
	Objects *Objects `json:"objects,omitempty"`
}

// Air is the air of one room.
type Air struct {
	PM25       float64 `json:"pm25"`                  // µg/m³
	PurifiedAt int64   `json:"purified_at,omitempty"` // Unix ms; 0 means never
}

// Sensed holds the last measurements.
type Sensed struct {
	Battery float64            `json:"battery"`
	PM25    map[string]float64 `json:"pm25"` // by room id
}

// Cleaned remembers the last cleaning.
type Cleaned struct {
	RoomID     string `json:"room_id,omitempty"`
	FinishedAt int64  `json:"finished_at,omitempty"` // Unix ms
}

// Security is the security mode: "off" or "started".
type Security string

// States of the security mode.
const (
	SecurityOff     Security = "off"
	SecurityStarted Security = "started"
)

// Sources of the planning context. Battery and air quality are measured again and again; the others are told of on change.
const (
	sourceBattery  = "battery"
	sourceAir      = "air_quality"
	sourceLocation = "location"
	sourceMovement = "movement"
	sourceCleaning = "cleaning"
	sourceSecurity = "security"
)

// newWorld puts the robot on its station in a home that nobody has touched yet.
func newWorld(h Home, now int64) World {
	station, _ := h.Room(h.Station)
	w := World{X: station.X, Y: station.Y, Battery: h.Battery, Docked: true, Air: map[string]Air{},
		Security: SecurityOff, Revision: 1, Sources: map[string]int64{}}
	for _, r := range h.Rooms {
		w.Air[r.ID] = Air{PM25: r.PM25}
	}
	for _, source := range []string{sourceBattery, sourceAir, sourceLocation, sourceMovement, sourceCleaning, sourceSecurity} {
		w.Sources[source] = now
	}
	w.senseBattery(now)
	w.senseAir(now)
	w.adoptObjects(h, now)
	return w
}

// senseBattery and senseAir are the two periodic sensors: a measurement is observed when it is made.
func (w *World) senseBattery(now int64) {
	w.Sensed.Battery = w.Battery
	w.Sources[sourceBattery] = now
}

func (w *World) senseAir(now int64) {
	w.Sensed.PM25 = make(map[string]float64, len(w.Air))
	for id, air := range w.Air {
		w.Sensed.PM25[id] = air.PM25
	}
	w.Sources[sourceAir] = now
}

// adopt fits a stored world to a home file that may have changed since: new rooms get their air, new lamps and doors are there.
func (w *World) adopt(h Home, now int64) {
	for _, r := range h.Rooms {
		if _, known := w.Air[r.ID]; !known {
			w.Air[r.ID] = Air{PM25: r.PM25}
		}
	}
	w.adoptObjects(h, now)
}
