package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"errand/catalog"
)

type catalogOut struct{ Body *catalog.Catalog }

func (a *API) catalogRoutes() {
	get(a, huma.Operation{OperationID: "show-catalog", Path: "/v1/catalog", Summary: "Show what devices can do",
		Errors: []int{401}}, func(context.Context, *struct{}) (*catalogOut, error) { return &catalogOut{a.Catalog}, nil })
}
