package plans

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"errand/plan"
)

// ErrPageToken means that a page token is not one that List returned.
var ErrPageToken = errors.New("not a page token of this list")

// Filter narrows a list. Empty fields take all.
type Filter struct {
	DeviceID string
	// Homes takes only plans of these, so none where it is empty; nil takes all.
	Homes []string
	State plan.Phase
	// Open takes only plans that are not over.
	Open bool
	// Size is the number of plans of a page; Token is the Next of the page before.
	Size  int
	Token string
}

// Line is one plan of a list, as Temporal's visibility knows it: a moment behind the plan itself.
type Line struct {
	PlanID    string     `json:"plan_id"`
	DeviceID  string     `json:"device_id"`
	HomeID    string     `json:"home_id"` // the home that its device was in when it was asked for
	State     plan.Phase `json:"state"`
	Step      string     `json:"step,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	StartedAt time.Time  `json:"started_at"`
	ClosedAt  time.Time  `json:"closed_at,omitzero"`
}

// List returns a page of plans, the newest first, and the token of the next page ("" after the last).
func (c *Client) List(ctx context.Context, f Filter) (lines []Line, next string, err error) {
	token, err := openToken(f.Token)
	if err != nil {
		return nil, "", err
	}
	if f.Homes != nil && len(f.Homes) == 0 {
		return []Line{}, "", nil
	}
	page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: int32(f.Size), NextPageToken: token, Query: f.query()})
	if invalid := (*serviceerror.InvalidArgument)(nil); f.Token != "" && errors.As(err, &invalid) {
		return nil, "", ErrPageToken
	}
	if err != nil {
		return nil, "", fmt.Errorf("list plans: %w", err)
	}
	lines = make([]Line, 0, len(page.GetExecutions()))
	for _, execution := range page.GetExecutions() {
		lines = append(lines, line(execution))
	}
	return lines, sealToken(page.GetNextPageToken()), nil
}

// sealBytes is how much of a hash goes before the server's token: one that was made up or cut short is known by it here. The
// server calls it its own trouble, and the SDK tries again until the time is up.
const sealBytes = 8

func sealToken(token []byte) string {
	if len(token) == 0 {
		return ""
	}
	sum := sha256.Sum256(token)
	return base64.RawURLEncoding.EncodeToString(append(sum[:sealBytes], token...))
}

func openToken(text string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || (text != "" && len(sealed) <= sealBytes) {
		return nil, ErrPageToken
	}
	if text == "" {
		return nil, nil
	}
	token := sealed[sealBytes:]
	if sum := sha256.Sum256(token); !bytes.Equal(sum[:sealBytes], sealed[:sealBytes]) {
		return nil, ErrPageToken
	}
	return token, nil
}

func (f Filter) query() string {
	query := "WorkflowType = " + quote(plan.WorkflowType)
	if f.DeviceID != "" {
		query += " AND " + plan.AttributeDevice + " = " + quote(f.DeviceID)
	}
	if f.Homes != nil {
		query += " AND " + ofHomes(f.Homes)
	}
	if f.Open {
		query += " AND ExecutionStatus = 'Running'"
	}
	state := plan.AttributeState + " = " + quote(string(f.State))
	switch {
	case f.State == "":
		return query
	case f.State == plan.Unresolved: // closed from outside counts as that: see line
		return query + " AND (" + state + " OR ExecutionStatus = 'Terminated' OR ExecutionStatus = 'TimedOut')"
	case f.State.Closed():
		return query + " AND " + state
	}
	return query + " AND " + state + " AND ExecutionStatus = 'Running'" // a terminated plan keeps its last state
}

// ofHomes finds the plans of the homes. Those of the default one need not say so: there were none before.
func ofHomes(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = quote(id)
	}
	these := plan.AttributeHome + " IN (" + strings.Join(quoted, ", ") + ")"
	if slices.Contains(ids, plan.DefaultHome) {
		return "(" + these + " OR " + plan.AttributeHome + " IS NULL)"
	}
	return these
}

// quote makes a string literal of Temporal's list filter, which follows SQL.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

func line(e *workflow.WorkflowExecutionInfo) Line {
	fields := e.GetSearchAttributes().GetIndexedFields()
	l := Line{
		PlanID:    e.GetExecution().GetWorkflowId(),
		DeviceID:  keyword(fields[plan.AttributeDevice]),
		HomeID:    plan.HomeOf(keyword(fields[plan.AttributeHome])),
		State:     plan.Phase(keyword(fields[plan.AttributeState])),
		Step:      keyword(fields[plan.AttributeStep]),
		Reason:    keyword(fields[plan.AttributeReason]),
		StartedAt: e.GetStartTime().AsTime(),
	}
	if e.GetCloseTime() != nil {
		l.ClosedAt = e.GetCloseTime().AsTime()
	}
	// A workflow closed from outside had no chance to write its last state.
	if s := e.GetStatus(); s == enums.WORKFLOW_EXECUTION_STATUS_TERMINATED || s == enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT {
		l.State, l.Reason = plan.Unresolved, s.String()
	}
	return l
}

// keyword reads a keyword attribute; one that is absent or unreadable is "".
func keyword(p *common.Payload) string {
	var s string
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return ""
	}
	return s
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
