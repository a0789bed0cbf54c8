package catalog

// Catalog is everything Errand knows about what devices can do.
// The file format is YAML (contract.md §9); package load reads, checks and digests it.
type Catalog struct {
	// CatalogVersion is the author's name for this state of the catalog, e.g. "2026.11".
	CatalogVersion string `json:"catalog_version"`
	// Digest is "sha256:" and the hex SHA-256 of the canonical JSON of the rest. Set when the catalog is loaded.
	Digest string `json:"digest,omitempty"`
	// ResultContractDefaults is always "deny_unlisted": a result field that no contract lists goes nowhere.
	ResultContractDefaults string `json:"result_contract_defaults"`

	// Impacts is the policy of each impact. Lint demands all four.
	Impacts      map[Impact]Policy `json:"impacts"`
	Capabilities []Capability      `json:"capabilities"`
	Reasons      []Reason          `json:"reasons"`
	Routines     []Routine         `json:"routines,omitempty"`
	Watches      []Watch           `json:"watches,omitempty"`
	// SafeReturn is what a device does when a plan is given up and it should not stay where it is.
	SafeReturn *SafeReturn `json:"safe_return,omitempty"`
	// Sentences holds what is said about a whole plan: "done", "partly", "failed", "cancelled",
	// "unresolved", "no_plan", "cannot_ground". Lint demands each in every locale.
	Sentences map[string]Text `json:"sentences"`
	// Controls holds the words by which people steer what is under way, without a model: by what they mean ("stop", "pause", ...),
	// then by language ("ko", "en"). They are utterance templates without slots. Lint demands each in every language.
	Controls map[string]map[string][]string `json:"controls"`
}

// Text is one sentence or title in each language we speak. Ko is the default.
type Text struct {
	Ko string `json:"ko"`
	En string `json:"en"`
}

// In returns the text for a locale such as "ko-KR" or "en"; every other locale reads Korean.
func (t Text) In(locale string) string {
	if len(locale) >= 2 && (locale[:2] == "en" || locale[:2] == "EN") && t.En != "" {
		return t.En
	}
	return t.Ko
}

// Capability is one thing a device can do, under one task method.
type Capability struct {
	ID          string   `json:"id"`
	Title       Text     `json:"title"`
	Description Text     `json:"description"`
	Operations  []string `json:"operations"`
	// TaskMethod is the name the device's TaskManager knows, e.g. "setMoveTo".
	TaskMethod string `json:"task_method"`
	// Params are sent with every task besides its slots. They make this capability of a task method that can do several things,
	// so that no plan has a say in it: light_on is setLight with on: true.
	Params map[string]any `json:"params,omitempty"`
	// NodeCommand is the command of a plain node that carries it out ("location.get"): one invoke, whose result is the
	// completion (contract.md §10). "" is a task of a TaskManager. It is the task method too.
	NodeCommand string `json:"node_command,omitempty"`
	// CompletionTarget is the physical mark that says a task is done, e.g. "movement.arrived"; never an event name.
	CompletionTarget string         `json:"completion_target"`
	Slots            []Slot         `json:"slots,omitempty"`
	ResultContract   ResultContract `json:"result_contract"`
	Impact           Impact         `json:"impact"`
	Confirm          *Confirm       `json:"confirm,omitempty"`
	// Preconditions and Verify are CEL over `context`, `args` and `result`; "" means none.
	Preconditions []string `json:"preconditions,omitempty"`
	Verify        string   `json:"verify,omitempty"`
	// Idempotent says that doing it twice leaves behind what doing it once does: it may be repeated without being asked about.
	Idempotent bool `json:"idempotent,omitempty"`
	// ReadBack names the capability that can tell afterwards whether this one ran. ReadBackWith fills its slots from this one's
	// ("query: name"), and ReadBackShows is CEL over `args` and its whole `result`: true means that this one ran, false that it did not.
	ReadBack      string            `json:"read_back,omitempty"`
	ReadBackWith  map[string]string `json:"read_back_with,omitempty"`
	ReadBackShows string            `json:"read_back_shows,omitempty"`

	Timeouts  Timeouts `json:"timeouts"`
	Resources []string `json:"resources,omitempty"`
	// Cancel is "stop" (a running task can be stopped), "queued_only" or "never".
	Cancel CancelPolicy `json:"cancel"`
	// Pause is "hold" (motion can be stopped and resumed) or "none".
	Pause string `json:"pause,omitempty"`
	// Targets lists where it runs: "device" (the default) or "cloud".
	Targets []string `json:"targets,omitempty"`
	Access  string   `json:"access,omitempty"`
	Enabled bool     `json:"enabled"`
	// ReportStarted asks the gateway to forward STARTED events, the dearest there are.
	ReportStarted bool `json:"report_started,omitempty"`
	// Say holds what the person hears about one such step: "done", "unverified", "failed", "contradicted", and "confirm", the
	// question before it. {target} is the object that was chosen, in words (Object.Choice).
	Say map[string]Text `json:"say,omitempty"`
}

// Slot is one argument a capability takes.
type Slot struct {
	Name     string     `json:"name"`
	Title    Text       `json:"title,omitzero"`
	Schema   SlotSchema `json:"schema"`
	Required bool       `json:"required"`
	Unit     string     `json:"unit,omitempty"`
	// Grounding says which real catalog the value must come from: "room" (name), "room_id", "device", GroundingObject or "".
	// With GroundingAuthority it says who may do what, and comes from a person's plan alone.
	Grounding string `json:"grounding,omitempty"`
	// Object says where the objects are that a slot with GroundingObject names one of.
	Object *Object `json:"object,omitempty"`
}

// GroundingAuthority is the grounding of a slot that says who speaks, or how far a device may go: a model may not fill it.
const GroundingAuthority = "authority"

// SlotSchema is the closed subset of JSON Schema that the machine checks by itself.
// Numbers are float64 as JSON has them; "integer" means a whole one.
// "object" is only for a slot that takes a bound envelope. "array" is a list of texts, at most 64.
type SlotSchema struct {
	Type      string   `json:"type"` // string, number, integer, boolean, array, object
	Enum      []string `json:"enum,omitempty"`
	MinLength *int     `json:"minLength,omitempty"` // in characters
	MaxLength *int     `json:"maxLength,omitempty"`
	Minimum   *float64 `json:"minimum,omitempty"`
	Maximum   *float64 `json:"maximum,omitempty"`
}

// ResultContract says which fields of a result may leave the event that carried it.
type ResultContract struct {
	BindableResultFields []ResultField `json:"bindable_result_fields"`
	// Envelope allows the path "<source>.result" without a field; it still holds listed fields only.
	Envelope bool `json:"envelope,omitempty"`
}

// ResultField is one listed field and its type.
type ResultField struct {
	Name   string     `json:"name"`
	Schema SlotSchema `json:"schema"`
	// Stored names the field of a node's result that carries base64. Its bytes are kept by the gateway, and this field holds a
	// reference to them: bytes never enter a history.
	Stored string `json:"stored,omitempty"`
}

// CancelPolicy says what cancelling a task of this capability can do.
type CancelPolicy string

// The cancel policies.
const (
	CancelStop       CancelPolicy = "stop"        // a running task can be stopped
	CancelQueuedOnly CancelPolicy = "queued_only" // only before it starts
	CancelNever      CancelPolicy = "never"
)

// Timeouts bound a task. QueueMs: from receipt by the device to start. RunMs: from start to a terminal event.
type Timeouts struct {
	QueueMs int64 `json:"queue_ms"`
	RunMs   int64 `json:"run_ms"`
}

// Reason is one row of the reason table: what a reason code means and what happens by itself.
type Reason struct {
	Code  string `json:"code"`
	Class string `json:"class"` // policy, power, environment, map, input, device, time, authority, plan, unknown
	// Recoverability is "transient", "conditional" (after something changes) or "permanent".
	Recoverability string `json:"recoverability"`
	// RequiresDecision is what the table says where the event itself does not.
	RequiresDecision bool     `json:"requires_decision"`
	Recovery         Recovery `json:"recovery"`
	// Default is the decision taken at a boundary when nobody else decides: cancel, ask, retry or return.
	Default string `json:"default"`
	Say     Text   `json:"say"`
}

// Recovery is what may be done without a decision, and how often.
type Recovery struct {
	Action      string `json:"action"` // none, retry, wait
	MaxAttempts int    `json:"max_attempts,omitempty"`
	BackoffMs   int64  `json:"backoff_ms,omitempty"`
}

// Routine is a named plan that an utterance can match without a model.
type Routine struct {
	ID    string `json:"id"`
	Title Text   `json:"title"`
	// Utterances are sentence templates by language: "{room}(으)로 가서 청정하고 복귀해줘".
	Utterances map[string][]string `json:"utterances"`
	Slots      []RoutineSlot       `json:"slots,omitempty"`
	Steps      []RoutineStep       `json:"steps"`
}

// RoutineSlot is a place in a sentence that must be grounded.
type RoutineSlot struct {
	Name string `json:"name"`
	// Grounding says what may stand there: SlotRoom, SlotTime or SlotField.
	Grounding string `json:"grounding"`
	// Area and Field say which names SlotField takes: those that a field of the items of an area of the device's context has.
	Area  string `json:"area,omitempty"`
	Field string `json:"field,omitempty"`
}

// The groundings of a routine's slots.
const (
	SlotRoom  = "room"  // a room of the device's own map
	SlotTime  = "time"  // a time of day; the plan has it in 24 hours: "07:00"
	SlotField = "field" // a name that people gave to something, such as a door's
)

// RoutineStep is a plan step whose string arguments may name a slot: "{room}".
type RoutineStep struct {
	ID           string            `json:"id"`
	CapabilityID string            `json:"capability_id"`
	OperationID  string            `json:"operation_id"`
	Arguments    map[string]any    `json:"arguments,omitempty"`
	DependsOn    []string          `json:"depends_on,omitempty"`
	OutputKey    string            `json:"output_key,omitempty"`
	InputFrom    map[string]string `json:"input_from,omitempty"`
}

// Watch maps a semantic observation to the routine it may start.
type Watch struct {
	Kind          string  `json:"kind"`
	MinConfidence float64 `json:"min_confidence,omitempty"`
	Routine       string  `json:"routine"`
}

// SafeReturn names a capability that needs no arguments, such as going back to the station.
type SafeReturn struct {
	CapabilityID string `json:"capability_id"`
	OperationID  string `json:"operation_id"`
}

// Slice is the part of a catalog that one plan uses. It travels inside the plan's input, so that
// nothing in a workflow reads a worker's file (design §6 Catalogs).
type Slice struct {
	CatalogVersion string `json:"catalog_version"`
	Digest         string `json:"digest"` // of the whole catalog
	// Impacts is the catalog's.
	Impacts      map[Impact]Policy `json:"impacts,omitempty"`
	Capabilities []Capability      `json:"capabilities"`
	Reasons      []Reason          `json:"reasons"`
	Sentences    map[string]Text   `json:"sentences"`
	// SafeReturn is the catalog's, and its capability is in the slice.
	SafeReturn *SafeReturn `json:"safe_return,omitempty"`
}

// Room is one entry of a device's own room catalog: the only source of room names and ids.
type Room struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
