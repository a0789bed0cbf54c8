package shim

import "errand/deviceio/wire"

// Reason codes that the shim gives by itself; all others are the vendor's. The cloud's reason table says what follows from each.
const (
	ReasonMissingParameter = "MISSING_PARAMETER"
	ReasonInvalidParameter = "INVALID_PARAMETER"
	ReasonStaleGeneration  = "STALE_GENERATION" // a later try of the step was seen
	ReasonGenerationAlive  = "GENERATION_ALIVE" // an earlier try of the step is not over
	ReasonTombstoned       = "TOMBSTONED"       // cancelled before it came
	ReasonTaskExpired      = "TASK_EXPIRED"     // older than its ttl
	ReasonTaskTimedOut     = "TASK_TIMED_OUT"
	ReasonTaskNotFound     = "TASK_NOT_FOUND"
	ReasonCancelRequested  = "CANCEL_REQUESTED"
	// ReasonOutcomeUnknown: it was sent, the vendor's answer was lost, and nothing tells whether the vendor has it.
	ReasonOutcomeUnknown = "OUTCOME_UNKNOWN"
	// ReasonTaskLost: the vendor had it, knows nothing of it any more, and told no end.
	ReasonTaskLost = "TASK_LOST"
	// ReasonRefused stands where the vendor said no without a reason.
	ReasonRefused = "REFUSED_WITHOUT_REASON"
)

var reasonRows = wire.ReasonTable{
	ReasonMissingParameter: {Decision: true, Recoverability: "permanent", Action: "fix_request"},
	ReasonInvalidParameter: {Decision: true, Recoverability: "permanent", Action: "fix_request"},
	ReasonStaleGeneration:  {Decision: true, Recoverability: "permanent", Action: "none"},
	ReasonGenerationAlive:  {Decision: true, Recoverability: "conditional", Action: "cancel_first"},
	ReasonTombstoned:       {Decision: false, Recoverability: "permanent", Action: "none"},
	ReasonTaskExpired:      {Decision: false, Recoverability: "transient", Action: "resubmit"},
	ReasonTaskTimedOut:     {Decision: true, Recoverability: "transient", Action: "ask_user"},
	ReasonTaskNotFound:     {Decision: true, Recoverability: "permanent", Action: "none"},
	ReasonCancelRequested:  {Decision: false, Recoverability: "permanent", Action: "none"},
	ReasonOutcomeUnknown:   {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonTaskLost:         {Decision: true, Recoverability: "conditional", Action: "ask_user"},
	ReasonRefused:          {Decision: true, Recoverability: "permanent", Action: "ask_user"},
}

// because builds a structured reason.
func because(code string, params map[string]any) *wire.Reason {
	return reasonRows.Because(code, params)
}
