package stack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"errand/plan"
)

// queryMetadata is the query that Temporal's UI makes of every workflow.
const queryMetadata = "__temporal_workflow_metadata"

// Metadata is what the plan's workflow tells Temporal's UI of itself: its current details and what its handlers are for.
func (p *Plan) Metadata(tb testing.TB) *sdkpb.WorkflowMetadata {
	tb.Helper()
	value, err := p.stack.Temporal.QueryWorkflow(tb.Context(), p.ID, "", queryMetadata)
	if err != nil {
		tb.Fatalf("metadata of %s: %v", p.ID, err)
	}
	m := new(sdkpb.WorkflowMetadata)
	if err := value.Get(m); err != nil {
		tb.Fatalf("metadata of %s: %v", p.ID, err)
	}
	return m
}

// Describe is what Temporal knows of the plan's workflow.
func (p *Plan) Describe(tb testing.TB) *workflowservice.DescribeWorkflowExecutionResponse {
	tb.Helper()
	d, err := p.stack.Temporal.DescribeWorkflow(tb.Context(), p.ID, "")
	if err != nil {
		tb.Fatalf("describe %s: %v", p.ID, err)
	}
	return d.RawResponse
}

// Attribute is one search attribute of the plan, "" if it is not set.
func (p *Plan) Attribute(tb testing.TB, name string) string {
	tb.Helper()
	fields := p.Describe(tb).GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	if fields[name] == nil {
		return ""
	}
	return Text(tb, fields[name])
}

// Text reads a payload that is a text.
func Text(tb testing.TB, p *common.Payload) (s string) {
	tb.Helper()
	if err := converter.GetDefaultDataConverter().FromPayload(p, &s); err != nil {
		tb.Fatalf("not a text: %v", err)
	}
	return s
}

// Find lists the workflows that a query of Temporal's list finds.
func (s *Stack) Find(ctx context.Context, query string) ([]*workflow.WorkflowExecutionInfo, error) {
	page, err := s.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 100})
	return page.GetExecutions(), err
}

// AnswerUpdate answers the plan's question by the update itself, as an operator does in Temporal's UI.
func (p *Plan) AnswerUpdate(tb testing.TB, answer plan.Answer) {
	tb.Helper()
	handle, err := p.stack.Temporal.UpdateWorkflow(tb.Context(), client.UpdateWorkflowOptions{WorkflowID: p.ID, UpdateName: plan.UpdateAnswer,
		Args: []any{answer}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = handle.Get(tb.Context(), nil)
	}
	if err != nil {
		tb.Fatalf("answer %s by an update: %v", p.ID, err)
	}
}

// Errand runs the command line against the installation and returns what it printed and its exit code. Its clock shows UTC.
func (s *Stack) Errand(tb testing.TB, args ...string) (printed string, code int) {
	tb.Helper()
	var out bytes.Buffer
	err := s.errand(tb.Context(), tb, &out, args).Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		tb.Fatalf("errand %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), 0
}

// ErrandUntil runs the command line until it has printed the text, and ends it.
func (s *Stack) ErrandUntil(tb testing.TB, text string, args ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	out := &awaited{text: text, found: cancel}
	err := s.errand(ctx, tb, out, args).Run()
	if printed := out.printed.String(); !strings.Contains(printed, text) {
		tb.Errorf("errand %s ended (%v) without printing\n%s\nIt printed\n%s", strings.Join(args, " "), err, text, printed)
	}
}

// awaited keeps what is printed and calls found once it has the text.
type awaited struct {
	text    string
	found   func()
	printed bytes.Buffer
}

func (a *awaited) Write(p []byte) (int, error) {
	n, err := a.printed.Write(p)
	if strings.Contains(a.printed.String(), a.text) {
		a.found()
	}
	return n, err
}

func (s *Stack) errand(ctx context.Context, tb testing.TB, out io.Writer, args []string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(tb), "errand"), args...)
	cmd.Env = append(os.Environ(), "ERRAND_API="+s.API, "ERRAND_TOKEN="+token, "TZ=UTC")
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}
