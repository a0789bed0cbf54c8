package robot

// PlanningContext is the robot's device_context.v1 (contract.md §6). Times are Unix ms of the device's clock.
// What cannot be told says available=false; nothing is null.
type PlanningContext struct {
	SchemaVersion string `json:"schema_version"`
	// SnapshotTS is when this was assembled, which says nothing about when anything was observed: freshness does.
	SnapshotTS  int64  `json:"snapshot_ts"`
	UpdatedAtMs int64  `json:"updated_at_ms"`
	BootID      string `json:"boot_id"`

	Battery struct {
		Available bool    `json:"available"`
		Level     float64 `json:"level"` // 0 to 100
		Charging  bool    `json:"charging"`
	} `json:"battery"`
	Map struct {
		Available bool          `json:"available"`
		Rooms     []ContextRoom `json:"rooms"`
	} `json:"map"`
	Location struct {
		Available bool    `json:"available"`
		RoomID    string  `json:"room_id"`
		RoomName  string  `json:"room_name"`
		X         float64 `json:"x"`
		Y         float64 `json:"y"`
	} `json:"location"`
	Movement struct {
		Available  bool   `json:"available"`
		State      string `json:"state"` // idle, moving, charging, blocked
		LastTarget string `json:"last_target"`
	} `json:"movement"`
	Cleaning struct {
		Available      bool   `json:"available"`
		State          string `json:"state"` // idle, cleaning
		LastRoomID     string `json:"last_room_id"`
		LastRoomName   string `json:"last_room_name"`
		LastFinishedAt int64  `json:"last_finished_at"` // 0: never
	} `json:"cleaning"`
	AirQuality struct {
		Available bool                  `json:"available"`
		RoomID    string                `json:"room_id"` // where the robot stands
		PM25      float64               `json:"pm25"`
		Rooms     map[string]ContextAir `json:"rooms"`
	} `json:"air_quality"`
	Security struct {
		Available bool   `json:"available"`
		State     string `json:"state"` // off, started
	} `json:"security"`
	Alarms      ContextItems[Alarm]    `json:"alarms"`
	Reminders   ContextItems[Reminder] `json:"reminders"`
	Lights      ContextItems[Light]    `json:"lights"`
	Doors       ContextItems[Door]     `json:"doors"`
	TaskManager struct {
		Available     bool   `json:"available"`
		QueueLength   int    `json:"queue_length"`
		RunningTaskID string `json:"running_task_id"` // "" while idle
		// Tasks is what it runs and what waits, in the order of their turns: by it orphans are found.
		Tasks []ContextTask `json:"tasks"`
	} `json:"task_manager"`
	Capabilities struct {
		Available   bool     `json:"available"`
		TaskMethods []string `json:"task_methods"`
	} `json:"capabilities"`
	Freshness map[string]Freshness `json:"freshness"` // by area
}

// ContextRoom is a room as planners may name it.
type ContextRoom struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ContextItems is every object of one kind, each with its id and revision.
type ContextItems[T any] struct {
	Available bool `json:"available"`
	Items     []T  `json:"items"`
}

func contextItems[T any](all []T) ContextItems[T] {
	return ContextItems[T]{Available: true, Items: append([]T{}, all...)}
}

// ContextTask is a task that is not over.
type ContextTask struct {
	TaskID      string `json:"task_id"`
	OperationID string `json:"operation_id"`
	Status      string `json:"status"` // RUNNING, BLOCKED, QUEUED
}

// ContextAir is the air of one room as last measured.
type ContextAir struct {
	PM25       float64 `json:"pm25"`
	PurifiedAt int64   `json:"purified_at"` // 0: never
}

// Freshness says how far one source can be trusted (device-source-freshness.v1). A periodic source expires by the age
// of its last report. One told on change is as good as the channel it is told through, however old the value (case
// c09): it never expires by age, and ExpiresAt is 0.
type Freshness struct {
	ObservedAt int64  `json:"observed_at"`
	ReportedAt int64  `json:"reported_at"`
	Policy     string `json:"policy"` // periodic, on_change
	ExpiresAt  int64  `json:"expires_at"`
	Usable     bool   `json:"usable"`
	Stale      bool   `json:"stale"`
}

// expiresAfter is how many missed measurements make a periodic source stale.
const expiresAfter = 5

// Context assembles the planning context.
func (r *Robot) Context() PlanningContext {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, w := r.deviceTime(), &r.world
	c := PlanningContext{SchemaVersion: "device_context.v1", SnapshotTS: now, UpdatedAtMs: now, BootID: r.outbox.BootID(),
		Freshness: map[string]Freshness{}}
	c.Battery.Available, c.Battery.Level, c.Battery.Charging = true, tenth(w.Sensed.Battery), w.Docked
	c.Map.Available = true
	for _, room := range r.home.Rooms {
		c.Map.Rooms = append(c.Map.Rooms, ContextRoom{ID: room.ID, Name: room.Name})
	}
	here := r.home.RoomAt(w.X, w.Y)
	c.Location.Available, c.Location.RoomID, c.Location.RoomName = true, here.ID, here.Name
	c.Location.X, c.Location.Y = w.X, w.Y
	c.Movement.Available, c.Movement.State, c.Movement.LastTarget = true, r.movement(), w.Target
	c.Cleaning.Available, c.Cleaning.State = true, r.cleaning()
	c.Cleaning.LastRoomID, c.Cleaning.LastRoomName, c.Cleaning.LastFinishedAt = w.Cleaned.RoomID, r.nameOf(w.Cleaned.RoomID), w.Cleaned.FinishedAt
	c.AirQuality.Available, c.AirQuality.RoomID, c.AirQuality.PM25 = true, here.ID, tenth(w.Sensed.PM25[here.ID])
	c.AirQuality.Rooms = map[string]ContextAir{}
	for _, room := range r.home.Rooms {
		c.AirQuality.Rooms[room.ID] = ContextAir{PM25: tenth(w.Sensed.PM25[room.ID]), PurifiedAt: w.Air[room.ID].PurifiedAt}
	}
	c.Security.Available, c.Security.State = true, string(w.Security)
	o := w.Objects
	c.Alarms, c.Reminders, c.Lights, c.Doors = contextItems(o.Alarms), contextItems(o.Reminders), contextItems(o.Lights), contextItems(o.Doors)
	c.TaskManager.Available, c.TaskManager.QueueLength = true, len(r.queue)
	c.TaskManager.Tasks = []ContextTask{}
	if r.running != nil {
		c.TaskManager.RunningTaskID = r.running.ID
		c.TaskManager.Tasks = append(c.TaskManager.Tasks, contextTask(r.running))
	}
	for _, t := range r.queue {
		c.TaskManager.Tasks = append(c.TaskManager.Tasks, contextTask(t))
	}
	c.Capabilities.Available, c.Capabilities.TaskMethods = true, Methods()
	for source, observed := range w.Sources {
		c.Freshness[source] = freshness(source, observed, now)
	}
	return c
}

func contextTask(t *Task) ContextTask {
	return ContextTask{TaskID: t.ID, OperationID: t.Spec.OperationID, Status: string(t.State)}
}

func freshness(source string, observed, now int64) Freshness {
	if source != sourceBattery && source != sourceAir {
		return Freshness{ObservedAt: observed, ReportedAt: now, Policy: "on_change", Usable: true}
	}
	expires := observed + expiresAfter*senseEvery.Milliseconds()
	return Freshness{ObservedAt: observed, ReportedAt: observed, Policy: "periodic", ExpiresAt: expires,
		Usable: now <= expires, Stale: now > expires}
}

func (r *Robot) movement() string {
	switch t := r.running; {
	case t != nil && t.State == Blocked:
		return "blocked"
	case t != nil && t.driving():
		return "moving"
	case r.world.Docked:
		return "charging"
	}
	return "idle"
}

func (r *Robot) cleaning() string {
	if t := r.running; t != nil && t.Spec.TaskMethod == "setRoomCleaning" && t.stage() == "cleaning" {
		return "cleaning"
	}
	return "idle"
}
