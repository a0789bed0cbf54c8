package activities

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"errand/plan"
)

// Decider decides at a boundary (contract.md §7). Whatever it answers passes the machine's gate (law 14): an error, or an
// answer that the gate refuses, spends the plan's budget, and the reason table's default counts.
type Decider interface {
	Decide(ctx context.Context, c plan.Decide) (plan.Decided, error)
}

// Deciders are the deciders that a plan may be given, by name.
type Deciders map[string]Decider

// TableDecider is the name of the decider that asks nobody.
const TableDecider = plan.DeciderTable

// Table decides as the catalog's reason table does.
type Table struct{}

// Decide answers with the default of the reason's row.
func (Table) Decide(_ context.Context, c plan.Decide) (plan.Decided, error) {
	row := c.Slice.Reason(c.Boundary.Report.Code)
	return plan.Decided{Decision: plan.DecisionKind(row.Default), Reason: "the reason table's default for " + row.Code}, nil
}

// Register makes the activity known to a worker.
func (d Deciders) Register(w worker.ActivityRegistry) { register(w, plan.ActivityDecide, d.Decide) }

// Decide hands a boundary to the decider that the plan names.
func (d Deciders) Decide(ctx context.Context, c plan.Decide) (plan.Decided, error) {
	decider, ok := d[c.Decider]
	if !ok {
		return plan.Decided{}, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("no decider %q is set up here; there are %v", c.Decider, slices.Sorted(maps.Keys(d))), "UnknownDecider", nil)
	}
	return decider.Decide(ctx, c)
}
