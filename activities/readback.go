package activities

import (
	"context"
	"fmt"
	"time"

	"errand/catalog/condition"
	"errand/plan"
)

// readBack looks for what an operation would have left behind, of which the device that did it remembers nothing. What cannot be
// read or judged leaves it forgotten.
func (d *Device) readBack(ctx context.Context, c plan.QueryStatus, forgotten plan.StatusReported) plan.StatusReported {
	result, err := d.link.Read(ctx, c.DeviceID, *c.ReadBack)
	if err != nil {
		forgotten.Detail += fmt.Sprintf("; reading it back with %s failed: %v", c.ReadBack.NodeCommand, err)
		return forgotten
	}
	truth, err := judge(c.ReadBack.Shows, nil, c.ReadBack.Arguments, result, 0)
	out := forgotten
	switch {
	case err != nil:
		out.Detail += "; " + err.Error()
	case truth == condition.True:
		out.Finding, out.Status, out.Detail = plan.StatusFound, plan.OpCompleted, ""
		out.Terminal = &plan.Event{EventID: "readback-" + c.OperationID, DeviceID: c.DeviceID, Epoch: c.Route.BootEpoch, Name: plan.EventCompleted,
			OperationID: c.OperationID, TaskID: c.TaskID, Timestamp: time.Now().UnixMilli()}
	case truth == condition.False:
		out.Finding, out.Detail = plan.StatusNeverRan, c.ReadBack.NodeCommand+" shows that it never ran"
	default:
		out.Detail += "; " + c.ReadBack.NodeCommand + " does not show whether it ran"
	}
	return out
}
