// Package condition evaluates the catalog's CEL expressions: preconditions of a step and checks of its effect.
//
// An expression sees three maps: `context` (a device_context.v1, made fresh with package fresh), `args` (the step's slots)
// and `result` (the listed fields of its result); a check of an effect also sees `completed_at`, when the device says
// that it was done (its own clock, Unix ms), so that an earlier effect of the same kind proves nothing. It answers True, False or Unknown. What is absent is Unknown,
// never False (law 17): a robot whose location nobody knows has not been proved to be in the wrong room.
//
//	context.location.room_name == args.position_name
//
// The package reads no clock and touches nothing outside; a Condition is safe for concurrent use.
package condition

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"errand/catalog/fresh"
)

// ErrExpression is returned for an expression that does not compile, or whose evaluation breaks.
var ErrExpression = errors.New("not a usable condition")

// costLimit bounds one evaluation, in CEL's units of work. Checks of a few fields need less than a hundred.
const costLimit = 10_000

// maxLength bounds the text of an expression, in bytes.
const maxLength = 2_000

// Truth is the answer of a condition.
type Truth string

// The truths. Unknown is neither of the other two, and decides nothing.
const (
	True  Truth = "true"
	False Truth = "false"
	// Unknown says that something the answer depends on is absent.
	Unknown Truth = "unknown"
)

// Truths lists every Truth.
func Truths() []Truth { return []Truth{True, False, Unknown} }

// Condition is a compiled expression.
type Condition struct {
	text    string
	program cel.Program
}

// environment declares the variables; it is built once, since it is large.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	tree := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(
		cel.Variable("context", tree), cel.Variable("args", tree), cel.Variable("result", tree),
		cel.Variable("completed_at", cel.DoubleType),
		cel.CrossTypeNumericComparisons(true), // JSON numbers are doubles; `level > 20` must not need `20.0`
	)
})

// Compile checks an expression: it must parse, name only the four variables, and answer true or false.
func Compile(expr string) (*Condition, error) {
	if len(expr) > maxLength {
		return nil, fmt.Errorf("%w: %d bytes long, may have %d", ErrExpression, len(expr), maxLength)
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("condition: the CEL environment cannot be built: %w", err)
	}
	ast, issues := compileAlone(env, expr)
	if issues.Err() != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrExpression, expr, issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("%w: %s: it answers %s, must answer true or false", ErrExpression, expr, out)
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrExpression, expr, err)
	}
	return &Condition{text: expr, program: program}, nil
}

var compiling sync.Mutex

// compileAlone compiles one expression at a time: what the environment collects for its error messages is not safe for two.
func compileAlone(env *cel.Env, expr string) (*cel.Ast, *cel.Issues) {
	compiling.Lock()
	defer compiling.Unlock()
	return env.Compile(expr)
}

// String returns the expression as it was written.
func (c *Condition) String() string { return c.text }

// Eval answers the condition. A missing key gives Unknown without an error. An error (a mistyped value, too much
// work) comes with Unknown too, so that a caller that only looks at the truth never takes it for a verdict.
func (c *Condition) Eval(context, args, result map[string]any) (Truth, error) {
	return c.EvalAfter(context, args, result, 0)
}

// EvalAfter is Eval for an effect that the device completed at a time of its own clock (Unix ms; 0 means unknown).
func (c *Condition) EvalAfter(context, args, result map[string]any, completedAt int64) (Truth, error) {
	variables := map[string]any{"context": fresh.WithoutNulls(context), "args": fresh.WithoutNulls(args), "result": fresh.WithoutNulls(result)}
	if completedAt > 0 {
		variables["completed_at"] = float64(completedAt)
	}
	out, _, err := c.program.Eval(variables)
	switch {
	case err != nil && isAbsence(err):
		return Unknown, nil
	case err != nil:
		return Unknown, fmt.Errorf("%w: %s: %w", ErrExpression, c.text, err)
	}
	switch out {
	case types.True:
		return True, nil
	case types.False:
		return False, nil
	}
	return Unknown, fmt.Errorf("%w: %s: it answered a %s, not true or false", ErrExpression, c.text, out.Type().TypeName())
}

// isAbsence tells a missing key from a broken expression. CEL keeps its error type to itself, so the text decides;
// TestLaw17 holds the version we pin to it.
func isAbsence(err error) bool {
	return strings.Contains(err.Error(), "no such key") || strings.Contains(err.Error(), "no such attribute(s): completed_at")
}
