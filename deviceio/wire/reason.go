package wire

// ReasonRow says what goes with a reason code: whether somebody must decide, whether trying again can help (transient,
// conditional, permanent), and what to do.
type ReasonRow struct {
	Decision       bool
	Recoverability string
	Action         string
}

// ReasonTable is a device's own contract of reasons, by code.
type ReasonTable map[string]ReasonRow

// Because builds a structured reason (contract.md §4). A code that the table lacks needs a person.
func (t ReasonTable) Because(code string, params map[string]any) *Reason {
	row, known := t[code]
	if !known {
		row = ReasonRow{Decision: true, Recoverability: "permanent", Action: "ask_user"}
	}
	if params == nil {
		params = map[string]any{}
	}
	return &Reason{ReasonCode: code, ReasonParams: params, RequiresCloudDecision: &row.Decision, Recoverability: row.Recoverability, SuggestedAction: row.Action}
}
