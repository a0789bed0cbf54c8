package stack

import (
	"context"

	"errand/deviceio/robot"
	"errand/plan"
)

// Look is View for a test that can live without an answer: a worker may be away.
func (p *Plan) Look(ctx context.Context) (plan.View, error) { return p.view(ctx) }

// Reach is Control for a test that can live without an answer: the robot may be dead.
func (r *Robot) Reach() (*robot.Control, error) { return robot.DialControl(r.dir) }
