package config

import "errand/plan"

// Decides is who decides at the boundaries of the plans that a process starts.
type Decides struct {
	Decider string `desc:"who decides when a device asks for a decision: model, table (the catalog's reason table alone), or another name that the workers know; default: model where ERRAND_LLM names one, else table"`
	LLM     string `default:"none" desc:"which language model the workers have: as they are told"`
}

// DeciderName is the decider's name as a plan has it; "" is the reason table, without asking a worker.
func (d Decides) DeciderName() string {
	if d.Decider == "" && d.LLM != "" && d.LLM != "none" {
		return plan.DeciderModel
	}
	return d.Decider
}
