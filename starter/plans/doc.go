// Package plans starts, watches and steers plans on Temporal. It is the one place of the starter that knows how a
// plan is a workflow: its id is the workflow's id, its state is a query, its requests are updates, its end is the
// workflow's result.
//
// A plan is started at most once for its id, however often Start is called. Watch tells every change in order and
// ends with the outcome; it waits on the workflow's history, so it neither sleeps nor polls. Outcome reads how a
// plan ended, whichever way its workflow closed (design §6 Close).
//
// The errors of the package are ErrNoPlan, ErrOver, ErrNoWorker, ErrRefused and ErrNoOutcome; test with errors.Is.
package plans
