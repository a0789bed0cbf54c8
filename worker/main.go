package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"errand/activities"
	"errand/catalog"
	"errand/internal/config"
	"errand/llm"
	"errand/plan"
	"errand/workflows"
)

// stopTimeout is what running activities get to end in.
const stopTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v\n", err)
		os.Exit(1)
	}
}

// run works until ctx ends or the worker fails.
func run(ctx context.Context, stdout io.Writer) (err error) {
	var settings config.Worker
	if err := config.Load(&settings); err != nil {
		return err
	}
	logger, err := settings.Logger()
	if err != nil {
		return err
	}
	known, err := config.Catalog(settings.Catalog)
	if err != nil {
		return err
	}
	options, err := config.ClientOptions(logger)
	if err != nil {
		return err
	}
	temporal, err := config.DialOptions(ctx, options)
	if err != nil {
		return err
	}
	defer temporal.Close()
	worker.SetStickyWorkflowCacheSize(settings.StickyCache)
	told := newMetrics(logger)
	model, done, err := openModel(ctx, settings.LLM, logger, told.called)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	stop, err := told.serve(ctx, settings.MetricsListen)
	if err != nil {
		return err
	}
	defer stop()
	ready := fmt.Sprintf("worker ready: task queue %s, namespace %s, catalog %s (%s), model %s",
		plan.TaskQueue, orDefault(options.Namespace), known.CatalogVersion, known.Digest, settings.LLM.LLM)
	return work(ctx, temporal, parts{catalog: known, model: model}, func() { fmt.Fprintln(stdout, ready) })
}

// parts is what the activities of this worker are made of.
type parts struct {
	catalog *catalog.Catalog
	model   llm.Model
}

// work polls until ctx ends or the worker fails for good, e.g. because its namespace is gone.
func work(ctx context.Context, temporal client.Client, p parts, ready func()) error {
	fatal := make(chan error, 1)
	config.NameBuild()
	w := worker.New(temporal, plan.TaskQueue, worker.Options{
		WorkerStopTimeout: stopTimeout,
		OnFatalError: func(err error) {
			select {
			case fatal <- err:
			default: // the first one stands
			}
		},
	})
	workflows.Register(w)
	workflows.RegisterDevice(w)
	activities.NewPlanner(p.catalog, p.model).Register(w)
	activities.BuiltinCloud().Register(w)
	activities.NewLeases(temporal).Register(w)
	activities.Deciders{plan.DeciderTable: activities.Table{}, plan.DeciderModel: activities.NewReplanner(p.catalog, p.model)}.Register(w)
	if err := w.Start(); err != nil {
		return fmt.Errorf("poll task queue %s: %w", plan.TaskQueue, err)
	}
	defer w.Stop()
	ready()
	select {
	case <-ctx.Done():
		return nil
	case err := <-fatal:
		return fmt.Errorf("poll task queue %s: %w", plan.TaskQueue, err)
	}
}

func orDefault(namespace string) string {
	if namespace == "" {
		return client.DefaultNamespace
	}
	return namespace
}
