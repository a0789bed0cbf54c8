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

// reasonRows is the robot's own reason contract (vendor checklist, onTaskEvent: failure fields).
var reasonRows = wire.ReasonTable{
	ReasonMissingParameter:  {Decision: true, Recoverability: "permanent", Action: "fix_request"},
	ReasonInvalidParameter:  {Decision: true, Recoverability: "permanent", Action: "fix_request"},
	ReasonUnsupportedMethod: {Decision: true, Recoverability: "permanent", Action: "fix_request"},
	ReasonRoomUnknown:       {Decision: true, Recoverability: "permanent", Action: "ask_user"},
	ReasonRoomAmbiguous:     {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonMovePolicy:        {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonBatteryLow:        {Decision: true, Recoverability: "conditional", Action: "return_to_station"},
	ReasonQueueFull:         {Decision: false, Recoverability: "transient", Action: "retry_later"},
	ReasonStaleGeneration:   {Decision: true, Recoverability: "permanent", Action: "none"},
	ReasonGenerationAlive:   {Decision: true, Recoverability: "conditional", Action: "cancel_first"},
	ReasonTombstoned:        {Decision: false, Recoverability: "permanent", Action: "none"},
	ReasonStateChanged:      {Decision: true, Recoverability: "conditional", Action: "fetch_context"},
	ReasonTaskExpired:       {Decision: false, Recoverability: "transient", Action: "resubmit"},
	ReasonTaskTimedOut:      {Decision: true, Recoverability: "transient", Action: "ask_user"},
	ReasonTaskNotFound:      {Decision: true, Recoverability: "permanent", Action: "none"},
	ReasonCancelRequested:   {Decision: false, Recoverability: "permanent", Action: "none"},
	ReasonCancelNotPossible: {Decision: false, Recoverability: "permanent", Action: "wait"},
	ReasonEmergencyStop:     {Decision: false, Recoverability: "permanent", Action: "release_first"},
	ReasonPathBlocked:       {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonSpeakerUnknown:    {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonStageNotAllowed:   {Decision: true, Recoverability: "permanent", Action: "ask_user"},
	ReasonExecutorFault:     {Decision: false, Recoverability: "transient", Action: "ask_user"},
	ReasonTargetNotFound:    {Decision: true, Recoverability: "permanent", Action: "fetch_context"},
	ReasonDoorOpen:          {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonObjectLimit:       {Decision: true, Recoverability: "conditional", Action: "ask_user"},
}

// ReasonCodes lists every reason code the robot gives by itself, in alphabetical order.
func ReasonCodes() []string { return slices.Sorted(maps.Keys(reasonRows)) }

// because builds a structured reason. A code outside the table needs a decision: nobody here knows what it means.
func because(code string, params map[string]any) *wire.Reason {
	return reasonRows.Because(code, params)
}
