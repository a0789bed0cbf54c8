package wire

import (
	"fmt"
	"reflect"

	"errand/internal/border"
)

// alias is a second spelling of a field. Documents are read in both; we write Name.
type alias struct{ Name, Also string }

// traceAliases are the fields of contract.md §3 that travel with a task through its whole life.
var traceAliases = []alias{
	{"cloud_workflow_id", "cloudWorkflowId"},
	{"cloud_plan_id", "cloudPlanId"},
	{"cloud_step_id", "cloudStepId"},
	{"cloud_output_key", "cloudOutputKey"},
	{"operation_id", "operationId"},
	{"plan_revision", "planRevision"},
}

// reasonAliases are the fields of everything that is not a success.
var reasonAliases = []alias{
	{"reason_code", "reasonCode"},
	{"reason_params", "reasonParams"},
	{"requires_cloud_decision", "requiresCloudDecision"},
	{"suggested_action", "suggestedAction"},
}

var envelopeAliases = []alias{{"event_id", "eventId"}, {"boot_id", "bootId"}}

// taskEventAliases are all spellings of a task event. There are none inside result (contract.md §4).
var taskEventAliases = concat(envelopeAliases, traceAliases, reasonAliases, []alias{
	{"event_name", "eventName"},
	{"task_id", "taskId"},
	{"task_method", "taskMethod"},
	{"effect_count", "effectCount"},
	{"executor_revision", "executorRevision"},
})

// In requests and answers the task's own fields are written in camelCase, as TaskManager has them (contract.md §3).
var (
	taskIDAlias    = []alias{{"taskId", "task_id"}}
	operationAlias = []alias{{"operation_id", "operationId"}}
	storeAlias     = []alias{{"store_id", "storeId"}, {"terminal_event", "terminalEvent"}}

	taskAliases = concat(traceAliases, []alias{
		{"taskMethod", "task_method"},
		{"completionTarget", "completion_target"},
		{"timeoutMs", "timeout_ms"},
		{"ttlMs", "ttl_ms"},
		{"expected_revision", "expectedRevision"},
	})
	// status counts as the state only where no taskState is given.
	submitAnswerAliases = concat(taskIDAlias, storeAlias, reasonAliases, []alias{
		{"taskState", "task_state"},
		{"taskMethod", "task_method"},
		{"pre_state_revision", "preStateRevision"},
	})
	statusAnswerAliases = concat(taskIDAlias, storeAlias, reasonAliases, traceAliases, []alias{
		{"taskMethod", "task_method"},
		{"boot_id", "bootId"},
		{"as_of_seq", "asOfSeq"},
	})
	queryAliases        = concat(taskIDAlias, operationAlias)
	cancelAnswerAliases = concat(taskIDAlias, operationAlias, storeAlias, reasonAliases)
	askAliases          = []alias{{"question_id", "questionId"}, {"expires_at", "expiresAt"}}
	observationAliases  = concat(envelopeAliases, []alias{
		{"observed_at", "observedAt"},
		{"requires_cloud_decision", "requiresCloudDecision"},
	})
	answerEventAliases = concat(envelopeAliases, operationAlias, []alias{
		{"speaker_id", "speakerId"},
		{"question_id", "questionId"},
		{"cloud_workflow_id", "cloudWorkflowId"},
	})
)

func concat(tables ...[]alias) []alias {
	var all []alias
	for _, table := range tables {
		all = append(all, table...)
	}
	return all
}

// fold brings an object to one spelling, and takes nulls for absent, as Android's bundles mean them.
// Two spellings that disagree are a fault, not a guess.
func fold(object map[string]any, aliases []alias) border.Faults {
	for key, v := range object {
		if v == nil {
			delete(object, key)
		}
	}
	var faults border.Faults
	for _, a := range aliases {
		also, ok := object[a.Also]
		if !ok {
			continue
		}
		delete(object, a.Also)
		if name, both := object[a.Name]; both && !reflect.DeepEqual(name, also) {
			faults = append(faults, border.Fault{Path: a.Name, Code: "spellings_disagree",
				Message: fmt.Sprintf("is given as %s and as %s, with different values: send one", a.Name, a.Also)})
			continue
		}
		object[a.Name] = also
	}
	return faults
}

// fallback takes a field for another where the other is not given, and drops it.
func fallback(object map[string]any, from, to string) {
	v, ok := object[from]
	delete(object, from)
	if _, given := object[to]; ok && !given {
		object[to] = v
	}
}
