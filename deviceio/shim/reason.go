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

// reasonRow says what goes with a code: whether somebody must decide, whether trying again can help, and what to do.
type reasonRow struct {
	decision       bool
	recoverability string // transient, conditional, permanent
	action         string
}

var reasonRows = map[string]reasonRow{
	ReasonMissingParameter: {true, "permanent", "fix_request"},
	ReasonInvalidParameter: {true, "permanent", "fix_request"},
	ReasonStaleGeneration:  {true, "permanent", "none"},
	ReasonGenerationAlive:  {true, "conditional", "cancel_first"},
	ReasonTombstoned:       {false, "permanent", "none"},
	ReasonTaskExpired:      {false, "transient", "resubmit"},
	ReasonTaskTimedOut:     {true, "transient", "ask_user"},
	ReasonTaskNotFound:     {true, "permanent", "none"},
	ReasonCancelRequested:  {false, "permanent", "none"},
	ReasonOutcomeUnknown:   {true, "conditional", "ask_user"},
	ReasonTaskLost:         {true, "conditional", "ask_user"},
	ReasonRefused:          {true, "permanent", "ask_user"},
}

// because builds a structured reason.
func because(code string, params map[string]any) *wire.Reason {
	row := reasonRows[code]
	if params == nil {
		params = map[string]any{}
	}
	return &wire.Reason{ReasonCode: code, ReasonParams: params, RequiresCloudDecision: &row.decision,
		Recoverability: row.recoverability, SuggestedAction: row.action}
}
