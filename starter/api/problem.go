package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
	refusals "errand/internal/refusal"
)

// Problem is an RFC 9457 problem document: what every error of the API looks like.
type Problem struct {
	Type   string `json:"type" doc:"always about:blank: code says which problem it is" example:"about:blank"`
	Title  string `json:"title" doc:"the HTTP status in words"`
	Status int    `json:"status" doc:"the HTTP status"`
	Code   string `json:"code" doc:"a short, stable name of the problem" example:"unknown_device"`
	Detail string `json:"detail" doc:"what is wrong and what to do, for the reader"`
	// AnsweredBy and Choice tell the second of two people who answer what was decided, and by whom.
	AnsweredBy string `json:"answered_by,omitempty" doc:"who answered the question before"`
	Choice     string `json:"choice,omitempty" doc:"what they chose"`
	// TTSResponse is what to say to a person who spoke.
	TTSResponse string `json:"tts_response,omitempty" doc:"what to say now, where the request was something that a person said"`
	// Errors lists every fault of a document that was refused.
	Errors []border.Fault `json:"errors,omitempty" doc:"every fault of the document, each with the path of its field"`
}

// CodeNoOutcome is the code of the problem that ends the watch of a plan that was closed from outside.
const CodeNoOutcome = "no_outcome"

var (
	_ huma.StatusError       = (*Problem)(nil)
	_ huma.ContentTypeFilter = (*Problem)(nil)
)

func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status it is sent with.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType makes it application/problem+json.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

func problem(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// refusal turns the faults of a document into a problem.
func refusal(err error) *Problem {
	status, code, detail, faults := refusals.Of(err)
	p := problem(status, code, detail)
	p.Errors = faults
	return p
}

// write sends the problem outside of huma: for what is refused before a route is found.
func (p *Problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil { // a struct of strings: cannot happen
		http.Error(w, p.Detail, p.Status)
		return
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client is gone: nobody is left to tell
}

// init makes huma's own errors (a parameter that does not fit, a body that cannot be read) look like ours. Its hook is
// a package variable, so it is set once, before anything is served.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if status == http.StatusRequestEntityTooLarge { // huma names its own limit, one above ours
			message = fmt.Sprintf("the document may have %d bytes: send less", bodyLimits.Bytes)
		}
		p := problem(status, humaCode(status), message)
		for _, err := range errs {
			var detail huma.ErrorDetailer
			switch {
			case err == nil:
			case errors.As(err, &detail):
				d := detail.ErrorDetail()
				path := strings.TrimPrefix(strings.TrimPrefix(d.Location, "query."), "path.")
				p.Errors = append(p.Errors, border.Fault{Path: path, Code: "bad_parameter", Message: d.Message})
			default:
				p.Errors = append(p.Errors, border.Fault{Code: "bad_request", Message: err.Error()})
			}
		}
		return p
	}
}

func humaCode(status int) string {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnprocessableEntity:
		return "bad_parameter"
	case http.StatusRequestTimeout:
		return "too_slow"
	case http.StatusInternalServerError:
		return "internal"
	}
	return "bad_request"
}
