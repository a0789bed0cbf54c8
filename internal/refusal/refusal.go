// Package refusal says over HTTP what package border refused: border itself knows no network, since the pure packages use it.
package refusal

import (
	"errors"
	"net/http"

	"errand/internal/border"
)

// Of is what HTTP says of a body that was refused: 400 for what is no JSON, 413 for what is too large, 422 with every fault
// and its path for the rest.
func Of(err error) (status int, code, detail string, faults border.Faults) {
	if !errors.As(err, &faults) {
		faults = border.Faults{{Code: "unreadable", Message: err.Error()}}
	}
	if len(faults) == 1 {
		switch faults[0].Code {
		case "bad_json", "bad_utf8":
			return http.StatusBadRequest, faults[0].Code, faults[0].Message, faults
		case "too_large":
			return http.StatusRequestEntityTooLarge, faults[0].Code, faults[0].Message, faults
		}
	}
	return http.StatusUnprocessableEntity, "invalid_document", "the document was refused; errors lists every fault", faults
}
