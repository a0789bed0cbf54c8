package robot

import (
	"maps"
	"slices"

	"errand/deviceio/wire"
)

// Reason codes the robot gives. Each has one meaning, whichever answer or event carries it.
const (
	ReasonMissingParameter  = "MISSING_PARAMETER"
	ReasonInvalidParameter  = "INVALID_PARAMETER"
	ReasonUnsupportedMethod = "UNSUPPORTED_METHOD"
	ReasonRoomUnknown       = "ROOM_UNKNOWN"
	ReasonRoomAmbiguous     = "ROOM_AMBIGUOUS"
	ReasonMovePolicy        = "MOVE_POLICY_NOT_ALLOWED"
	ReasonBatteryLow        = "BATTERY_LOW"
	ReasonQueueFull         = "QUEUE_FULL"
	ReasonStaleGeneration   = "STALE_GENERATION"
	ReasonGenerationAlive   = "GENERATION_ALIVE"
	ReasonTombstoned        = "TOMBSTONED"
	ReasonStateChanged      = "STATE_CHANGED"
	ReasonTaskExpired       = "TASK_EXPIRED"
	ReasonTaskTimedOut      = "TASK_TIMED_OUT"
	ReasonTaskNotFound      = "TASK_NOT_FOUND"
	ReasonCancelRequested   = "CANCEL_REQUESTED"
	ReasonCancelNotPossible = "CANCEL_NOT_POSSIBLE"
	ReasonEmergencyStop     = "EMERGENCY_STOP"
	ReasonPathBlocked       = "PATH_BLOCKED"
	ReasonSpeakerUnknown    = "SPEAKER_NOT_REGISTERED"
	ReasonStageNotAllowed   = "STAGE_NOT_ALLOWED"
	ReasonExecutorFault     = "EXECUTOR_FAULT"
	ReasonTargetNotFound    = "TARGET_NOT_FOUND"
	ReasonDoorOpen          = "DOOR_OPEN"
	ReasonObjectLimit       = "OBJECT_LIMIT"
)

// reasonRow says what goes with a code: whether somebody must decide, whether trying again can help, and what to do.
type reasonRow struct {
	decision       bool
	recoverability string // transient, conditional, permanent
	action         string
}

// reasonRows is the robot's own reason contract (vendor checklist, onTaskEvent: failure fields).
var reasonRows = map[string]reasonRow{
	ReasonMissingParameter:  {true, "permanent", "fix_request"},
	ReasonInvalidParameter:  {true, "permanent", "fix_request"},
	ReasonUnsupportedMethod: {true, "permanent", "fix_request"},
	ReasonRoomUnknown:       {true, "permanent", "ask_user"},
	ReasonRoomAmbiguous:     {true, "conditional", "ask_user"},
	ReasonMovePolicy:        {true, "conditional", "ask_user"},
	ReasonBatteryLow:        {true, "conditional", "return_to_station"},
	ReasonQueueFull:         {false, "transient", "retry_later"},
	ReasonStaleGeneration:   {true, "permanent", "none"},
	ReasonGenerationAlive:   {true, "conditional", "cancel_first"},
	ReasonTombstoned:        {false, "permanent", "none"},
	ReasonStateChanged:      {true, "conditional", "fetch_context"},
	ReasonTaskExpired:       {false, "transient", "resubmit"},
	ReasonTaskTimedOut:      {true, "transient", "ask_user"},
	ReasonTaskNotFound:      {true, "permanent", "none"},
	ReasonCancelRequested:   {false, "permanent", "none"},
	ReasonCancelNotPossible: {false, "permanent", "wait"},
	ReasonEmergencyStop:     {false, "permanent", "release_first"},
	ReasonPathBlocked:       {true, "conditional", "ask_user"},
	ReasonSpeakerUnknown:    {true, "conditional", "ask_user"},
	ReasonStageNotAllowed:   {true, "permanent", "ask_user"},
	ReasonExecutorFault:     {false, "transient", "ask_user"},
	ReasonTargetNotFound:    {true, "permanent", "fetch_context"},
	ReasonDoorOpen:          {true, "conditional", "ask_user"},
	ReasonObjectLimit:       {true, "conditional", "ask_user"},
}

// ReasonCodes lists every reason code the robot gives by itself, in alphabetical order.
func ReasonCodes() []string { return slices.Sorted(maps.Keys(reasonRows)) }

// because builds a structured reason. A code outside the table needs a decision: nobody here knows what it means.
func because(code string, params map[string]any) *wire.Reason {
	row, known := reasonRows[code]
	if !known {
		row = reasonRow{true, "permanent", "ask_user"}
	}
	if params == nil {
		params = map[string]any{}
	}
	return &wire.Reason{ReasonCode: code, ReasonParams: params, RequiresCloudDecision: &row.decision,
		Recoverability: row.recoverability, SuggestedAction: row.action}
}
