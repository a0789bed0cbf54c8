package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"errand/catalog"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// Three gates stand before anything moves. The first is the catalog's: what a capability may be given at all, checked when the
// plan was made. The second is the surface: what the device advertised and a person approved. The third is the moment: what is
// allowed now. This file is the second, and of the third what can be known without the device; the rest of it the device says
// by itself (wire.NotRun). Each answers with a reason code of the catalog's table, which says whether the plan waits, asks or
// gives up.

// Reason codes of the gates.
const (
	reasonDisabled    = "CAPABILITY_DISABLED"  // the catalog's switch is off now, whatever it was when the plan was made
	reasonNotOffered  = "COMMAND_NOT_OFFERED"  // not advertised in this connection
	reasonNotApproved = "COMMAND_NOT_APPROVED" // advertised, and no person approved it
	reasonPermission  = "PERMISSION_REQUIRED"  // the device itself lacks the permission
)

// checkGates asks whether the device may be told to carry out the command now. A report is the answer no, with its reason. The error is
// plan.ErrNotConnected where the device is nobody to talk to any more, or where that cannot be known: then nothing is sent.
func (g *Gateway) checkGates(ctx context.Context, s *session, capabilityID, command string) (*plan.Report, error) {
	state, approved, err := g.opts.Registry.Standing(ctx, s.deviceID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("device %s: whether it may be used cannot be known now: %w: %w", s.deviceID, plan.ErrNotConnected, err)
	case state != registry.Approved:
		s.cutOff()
		return nil, fmt.Errorf("device %s is %s: %w", s.deviceID, state, plan.ErrNotConnected)
	}
	s.approve(approved)
	declared := g.translate.capability(capabilityID)
	if stop, stopped, err := g.opts.Registry.StopOf(ctx, s.deviceID); err != nil {
		return nil, fmt.Errorf("device %s: whether it is stopped cannot be known now: %w: %w", s.deviceID, plan.ErrNotConnected, err)
	} else if stopped {
		if no := g.stopReport(stop, declared); no != nil {
			return no, nil
		}
	}
	switch {
	case !isTask(command) && (declared == nil || declared.NodeCommand != command): // no catalog but the gateway's own opens a node's commands
		return g.translate.reason(reasonDisabled, map[string]any{"command": command}, "this gateway's catalog does not have "+command+" as "+capabilityID), nil
	case declared != nil && !declared.Enabled:
		return g.translate.reason(reasonDisabled, nil, "the catalog has "+capabilityID+" switched off"), nil
	case !s.advertises(command):
		return g.translate.reason(reasonNotOffered, map[string]any{"command": command}, s.lacks(command)), nil
	case !s.offers(command):
		return g.translate.reason(reasonNotApproved, map[string]any{"command": command}, s.lacks(command)), nil
	case declared != nil && declared.Access != "" && s.denies(declared.Access):
		return g.translate.reason(reasonPermission, map[string]any{"permission": declared.Access},
			"the device said that it lacks the permission "+declared.Access), nil
	}
	return nil, nil
}

// reason is a report of ours under a code of the table, which says whether it needs a decision.
func (t translator) reason(code string, params map[string]any, detail string) *plan.Report {
	row := t.reasons.Reason(code)
	return &plan.Report{Code: code, Params: params, RequiresDecision: row.RequiresDecision, Recoverability: row.Recoverability, Detail: detail}
}

// capability is the catalog's, or nil for one that this gateway's catalog does not have.
func (t translator) capability(id string) *catalog.Capability {
	for i := range t.reasons.Capabilities {
		if c := &t.reasons.Capabilities[i]; c.ID == id {
			return c
		}
	}
	return nil
}

// isTask tells a task of a TaskManager from a command of a plain node.
func isTask(command string) bool { return command == wire.CommandSubmitTask }

// command is the capability that a node's command carries out, or nil.
func (t translator) command(name string) *catalog.Capability {
	for i := range t.reasons.Capabilities {
		if c := &t.reasons.Capabilities[i]; c.NodeCommand == name && name != "" {
			return c
		}
	}
	return nil
}

// advertises tells whether the device announced the command when it connected, approved or not. That is enough to ask how a task
// stands, and to stop one.
func (s *session) advertises(command string) bool { return slices.Contains(s.commands, command) }

// offers tells whether the device may be asked to carry out the command: it announced it, and a person approved it.
func (s *session) offers(command string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.commands, command) && slices.Contains(s.approved, command)
}

// mayAsk is offers, and looks once more at what is approved before it says no.
func (s *session) mayAsk(ctx context.Context, command string) bool {
	if s.advertises(command) && !s.offers(command) {
		if state, approved, err := s.g.opts.Registry.Standing(ctx, s.deviceID); err == nil && state == registry.Approved {
			s.approve(approved)
		}
	}
	return s.offers(command)
}

// approve takes the surface that a person approved, which can grow while the device is connected.
func (s *session) approve(commands []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approved = commands
}

// denies tells whether the device said that it lacks a permission. One that it did not name is asked of it when it is needed.
func (s *session) denies(permission string) bool {
	granted, named := s.permissions[permission]
	return named && !granted
}

// lacks says why a command is not asked of the device.
func (s *session) lacks(command string) string {
	if s.advertises(command) {
		return "nobody approved " + command + ": approve the device again, and with it what it offers now"
	}
	return "the device did not announce " + command
}

// cutOff closes the socket of a device that was thrown out.
func (s *session) cutOff() {
	go s.end(closeReplaced, "this device was revoked")
}

// Whoever was thrown out is cut off within RevokeInterval. revokeOverlap is how far the clocks of two machines may differ without
// a revocation being overlooked; the heartbeat finds it in any case.
const revokeOverlap = 5 * time.Second

// watchRevoked closes the sockets of revoked devices until ctx ends.
func (g *Gateway) watchRevoked(ctx context.Context) {
	look := time.NewTicker(g.opts.RevokeInterval)
	defer look.Stop()
	since := time.Now()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		began := time.Now()
		if err := g.cutRevoked(ctx, since.Add(-revokeOverlap)); err != nil {
			if ctx.Err() == nil {
				g.log.Warn("it could not be seen which devices were revoked: it is tried again", "in", g.opts.RevokeInterval, "error", err)
			}
			continue // from the same moment on
		}
		since = began
	}
}

func (g *Gateway) cutRevoked(ctx context.Context, since time.Time) error {
	soon, cancel := context.WithTimeout(ctx, g.opts.LeaseTTL)
	defer cancel()
	revoked, err := g.opts.Registry.Revoked(soon, since)
	if err != nil {
		return err
	}
	for _, deviceID := range revoked {
		if s := g.table.get(deviceID); s != nil {
			s.log.Warn("closing the socket: the device was revoked")
			s.cutOff()
		}
	}
	return nil
}
