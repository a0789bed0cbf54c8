package plan

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ErrOperationID is returned for text that is not an operation id.
var ErrOperationID = errors.New("not an operation id: want <plan>/<step>/<generation>")

// identifier is what plan ids, step ids and output keys look like (design §6).
var identifier = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ValidID reports whether s may be a plan id, a step id or an output key.
func ValidID(s string) bool { return identifier.MatchString(s) }

// OperationID names one physical effect: the idempotency key that crosses every border and comes back
// in every event. It holds neither a run id nor an attempt, so a retry or a reset keeps it (law 11).
type OperationID struct {
	Plan       string
	Step       string
	Generation int // from 1
}

// String gives the form on the wire, e.g. "p-1f0a/move/1".
func (o OperationID) String() string {
	return o.Plan + "/" + o.Step + "/" + strconv.Itoa(o.Generation)
}

// ParseOperationID reads the form on the wire, and only that: no signs, no leading zeros.
func ParseOperationID(s string) (OperationID, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || !ValidID(parts[0]) || !ValidID(parts[1]) {
		return OperationID{}, fmt.Errorf("%w, got %q", ErrOperationID, s)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || n < 1 || strconv.Itoa(n) != parts[2] {
		return OperationID{}, fmt.Errorf("%w, got generation %q", ErrOperationID, parts[2])
	}
	return OperationID{Plan: parts[0], Step: parts[1], Generation: n}, nil
}
