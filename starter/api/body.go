package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
)

// body is a request's body as it came; the handler reads it through border, which huma's decoder knows nothing of.
type body struct {
	RawBody []byte `contentType:"application/json"`
}

// Resolve runs when the body is read, and lifts the deadline that the reading had: net/http goes on watching the
// connection, and would take the deadline for the client's going away in the middle of the handler.
func (b *body) Resolve(ctx huma.Context) []error {
	if err := ctx.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return []error{problem(http.StatusBadRequest, "gone", "the connection is gone: "+err.Error())}
	}
	return nil
}

var _ huma.Resolver = (*body)(nil)

// bodyLimits bounds a request's body.
var bodyLimits = border.DefaultLimits

// post declares a route whose body has the shape of T and is read by its handler. It must be there, unless the operation
// comes with a RequestBody.
func post[T, I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	op.Method = "POST"
	op.SkipValidateBody = true                    // border does
	op.MaxBodyBytes = int64(bodyLimits.Bytes) + 1 // one more, so that the border itself can say it is too large
	required := op.RequestBody == nil
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{}}
	register(a, op, handler)
	op.RequestBody.Required = required // huma made it so
	op.RequestBody.Content["application/json"] = &huma.MediaType{
		Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, op.OperationID+"Body"),
	}
}

// get declares a route without a body.
func get[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	op.Method = "GET"
	register(a, op, handler)
}

// register declares a route whose handler's errors become problems.
func register[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, a.fail(ctx, err)
		}
		return out, nil
	})
}
