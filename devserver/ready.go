package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// readyTimeout is generous: a cold, busy machine takes a few seconds.
	readyTimeout = 60 * time.Second
	readyPoll    = 25 * time.Millisecond
	// callTimeout bounds one call, so that one that hangs is tried again.
	callTimeout = 5 * time.Second
)

// frontend is a client of the server's public interface, from the inside.
type frontend struct {
	conn     *grpc.ClientConn
	workflow workflowservice.WorkflowServiceClient
	operator operatorservice.OperatorServiceClient
}

// dialFrontend does not wait: awaitNamespace does.
func dialFrontend(addr string) (*frontend, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: time.Second}),
	)
	if err != nil {
		return nil, fmt.Errorf("prepare a client of the frontend %s: %w", addr, err)
	}
	return &frontend{
		conn:     conn,
		workflow: workflowservice.NewWorkflowServiceClient(conn),
		operator: operatorservice.NewOperatorServiceClient(conn),
	}, nil
}

func (f *frontend) close() {
	_ = f.conn.Close() // nothing in flight, nothing to lose
}

// awaitNamespace returns when the frontend can describe the namespace, which takes the
// frontend and the database: an open port alone says nothing.
func (f *frontend) awaitNamespace(ctx context.Context, namespace string) error {
	return eventually(ctx, "namespace "+namespace, func(ctx context.Context) error {
		_, err := f.workflow.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		return err
	})
}

// registerSearchAttributes adds those that the namespace does not have. One that it has
// with another type is an error: the server would ignore the request, and values of the
// new type would be refused much later.
func (f *frontend) registerSearchAttributes(ctx context.Context, namespace string, wanted map[string]enumspb.IndexedValueType) error {
	if len(wanted) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	listed, err := f.operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the search attributes of namespace %s: %w", namespace, err)
	}
	missing, err := missingAttributes(wanted, listed.GetCustomAttributes())
	if err != nil {
		return fmt.Errorf("namespace %s: %w", namespace, err)
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = f.operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace:        namespace,
		SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("register search attributes in namespace %s: %w", namespace, err)
	}
	return nil
}

// missingAttributes is wanted without what is there already.
func missingAttributes(wanted, existing map[string]enumspb.IndexedValueType) (map[string]enumspb.IndexedValueType, error) {
	missing := make(map[string]enumspb.IndexedValueType)
	var conflicts []error
	for name, kind := range wanted {
		switch there, ok := existing[name]; {
		case !ok:
			missing[name] = kind
		case there != kind:
			conflicts = append(conflicts, fmt.Errorf("search attribute %s is registered as %v, not %v, and a type cannot be changed: use another name or another --db-filename", name, there, kind))
		}
	}
	return missing, errors.Join(conflicts...)
}

// eventually tries until it works, the context ends or readyTimeout has passed; the
// error then says what the last attempt ran into.
func eventually(ctx context.Context, what string, try func(context.Context) error) error {
	deadline, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		attempt, done := context.WithTimeout(deadline, callTimeout)
		err := try(attempt)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped while waiting for %s: %w", what, ctx.Err())
		case <-deadline.Done():
			return fmt.Errorf("%s did not answer within %v: %w; --log-level=info shows what the server was doing", what, readyTimeout, err)
		case <-tick.C:
		}
	}
}
