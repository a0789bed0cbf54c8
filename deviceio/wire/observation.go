package wire

import (
	"encoding/json"

	"errand/internal/border"
)

// KindEmergencyStop is the kind by which a device tells that it was stopped, such as by its button: the gateway latches it before
// anything else, and out of turn. facts.why says more.
const KindEmergencyStop = "emergency_stop"

// Observation is the payload of the event semantic.observation (contract.md §5): what a device saw, in words.
type Observation struct {
	Envelope
	Kind       string  `json:"kind"`
	Confidence float64 `json:"confidence,omitempty"` // 0 to 1; 0 where the device does not say
	Place      string  `json:"place,omitempty"`
	// ObservedAt is the device's clock, Unix milliseconds.
	ObservedAt            int64 `json:"observed_at,omitempty"`
	RequiresCloudDecision bool  `json:"requires_cloud_decision,omitempty"`
	// Facts are few, and each is a short text, a number or a truth value: there is no room for a frame.
	Facts map[string]any `json:"facts,omitempty"`
}

// observationLimits keep an observation small: it enters a plan's history whole.
var observationLimits = border.Limits{Bytes: 16 << 10, Depth: 8, StringRunes: 2_048, List: 64, Keys: 128}

var observationDoc = newDocument("observation", observationLimits, observationAliases)

// ParseObservation reads the payload of semantic.observation, in both spellings. observed_at may be Unix milliseconds, as a
// number or as a text, or RFC 3339. Every failure is a *RefusedEvent.
func ParseObservation(raw json.RawMessage) (Observation, error) {
	object, faults, err := observationDoc.object(raw)
	if err != nil {
		return Observation{}, refuse(raw, err)
	}
	if v, ok := object["observed_at"]; ok {
		ms, why := unixMs(v)
		if why != "" {
			faults = append(faults, border.Fault{Path: "observed_at", Code: "bad_timestamp", Message: why})
		}
		object["observed_at"] = float64(ms)
	}
	var o Observation
	if err := observationDoc.finish(object, faults, &o); err != nil {
		return Observation{}, refuse(raw, err)
	}
	return o, nil
}
