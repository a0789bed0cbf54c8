package dev

import (
	"context"
	"fmt"
	"log/slog"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"errand/internal/config"
	"errand/plan"
)

// checkTemporal sees that somebody else's Temporal answers and knows our search attributes, and adds those it lacks.
func checkTemporal(ctx context.Context) error {
	options, err := config.ClientOptions(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	c, err := config.DialOptions(ctx, options)
	if err != nil {
		return err
	}
	defer c.Close()
	namespace := options.Namespace
	if namespace == "" {
		namespace = client.DefaultNamespace
	}
	return addSearchAttributes(ctx, c.OperatorService(), namespace)
}

func addSearchAttributes(ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string) error {
	known, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("the search attributes of namespace %s cannot be listed: %w", namespace, err)
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range plan.SearchAttributes() {
		if _, ok := known.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	if err != nil {
		return fmt.Errorf("the search attributes %v cannot be added to namespace %s: %w: add them as keywords with your server's own tool",
			plan.SearchAttributes(), namespace, err)
	}
	return nil
}
