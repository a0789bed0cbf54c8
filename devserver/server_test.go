package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
)

func TestReadyMeansUsable(t *testing.T) {
	t.Parallel()
	p := start(t, "--namespace", "errands", "--search-attribute", "ErrandStatus=Keyword")
	f := connect(t, p)
	for _, namespace := range []string{defaultNamespace, "errands"} {
		described, err := f.workflow.DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		if kept := described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); kept != retention {
			t.Errorf("namespace %s keeps closed workflows %v, want %v", namespace, kept, retention)
		}
		if attributes := f.attributes(t, namespace); attributes["ErrandStatus"] != enumspb.INDEXED_VALUE_TYPE_KEYWORD {
			t.Errorf("namespace %s has search attributes %v", namespace, attributes)
		}
	}
}

func TestDataOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "kept.db")
	first := start(t, "--db-filename", db, "--headless", "--search-attribute", "ErrandStatus=Keyword")
	connect(t, first).startWorkflow(t, "kept")
	first.stop(t, syscall.SIGTERM)

	// The namespace exists now: the second attribute has to be added to it.
	second := start(t, "--db-filename", db, "--headless",
		"--search-attribute", "ErrandStatus=Keyword", "--search-attribute", "ErrandOwner=Keyword")
	f := connect(t, second)
	if attributes := f.attributes(t, defaultNamespace); len(attributes) != 2 {
		t.Errorf("search attributes after the restart: %v", attributes)
	}
	// Lists are written behind the workflow's back, so the entry may be a moment late.
	err := eventually(t.Context(), "the workflow from before the restart", func(ctx context.Context) error {
		listed, err := f.workflow.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: defaultNamespace,
			Query:     `ErrandStatus = "waiting" AND ErrandOwner IS NULL`,
		})
		if n := len(listed.GetExecutions()); err == nil && n != 1 {
			return fmt.Errorf("%d workflows are listed, want 1", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	second.stop(t, syscall.SIGTERM)
	if left := names(t, filepath.Dir(db)); len(left) != 1 {
		t.Errorf("the database is %v, want one file", left)
	}

	code, stderr := output(t, "--port", "0", "--headless", "--db-filename", db, "--search-attribute", "ErrandStatus=Int")
	if code != exitFailed || !strings.Contains(stderr, "ErrandStatus is registered as Keyword, not Int") {
		t.Errorf("another type for an attribute: exit code %d and %q", code, stderr)
	}
}

func TestKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "kept.db")
	first := start(t, "--db-filename", db, "--headless")
	connect(t, first).startWorkflow(t, "kept")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // killed, so never nil

	f := connect(t, start(t, "--db-filename", db, "--headless"))
	_, err := f.workflow.DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: defaultNamespace,
		Execution: &commonpb.WorkflowExecution{WorkflowId: "kept"},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUIOffersWhatAPersonMayDo(t *testing.T) {
	t.Parallel()
	p := start(t)
	var settings map[string]any
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.UI+"/api/v1/settings", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&settings); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]bool{
		"WorkflowCancelDisabled": false,
		"WorkflowResetDisabled":  true,
		"WorkflowSignalDisabled": true,
		"DisableNewsFetch":       true,
	} {
		if settings[setting] != want {
			t.Errorf("%s is %v, want %v", setting, settings[setting], want)
		}
	}
}

// TestStartDevServerDrivesIt is the reason for the flags' names.
func TestStartDevServerDrivesIt(t *testing.T) {
	t.Setenv(asProgram, "1")
	cmd, _ := command(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{
		ExistingPath:  cmd.Path,
		EnableUI:      true,
		LogLevel:      "error",
		ClientOptions: &client.Options{Namespace: "driven"},
		ExtraArgs:     []string{"--search-attribute", "ErrandStatus=Keyword"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Client().Close()
	if _, err := server.Client().CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		t.Error(err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// connect returns a client of a running program.
func connect(t *testing.T, p *program) *frontend {
	t.Helper()
	f, err := dialFrontend(p.GRPC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	return f
}

func (f *frontend) attributes(t *testing.T, namespace string) map[string]enumspb.IndexedValueType {
	t.Helper()
	listed, err := f.operator.ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	return listed.GetCustomAttributes()
}

// startWorkflow starts one that nobody works on.
func (f *frontend) startWorkflow(t *testing.T, id string) {
	t.Helper()
	request := &workflowservice.StartWorkflowExecutionRequest{
		Namespace:    defaultNamespace,
		WorkflowId:   id,
		RequestId:    id,
		WorkflowType: &commonpb.WorkflowType{Name: "Errand"},
		TaskQueue:    &taskqueuepb.TaskQueue{Name: "nobody"},
	}
	if _, ok := f.attributes(t, defaultNamespace)["ErrandStatus"]; ok {
		request.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
			"ErrandStatus": {Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"waiting"`)},
		}}
	}
	if _, err := f.workflow.StartWorkflowExecution(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}
