package main

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.temporal.io/server/common/dynamicconfig"
	"gopkg.in/yaml.v3"
)

// pollRPS lifts the rate at which a history shard's queues look for new tasks. The
// server's default of 20 a second is meant for hundreds of shards; here there is one,
// and the default makes each step of a lone workflow wait some 50 ms.
const pollRPS = 10000

// tuning is what makes one process with one shard behave well on a laptop. It calls
// nobody: the version check that would ask a public service is off.
func tuning() dynamicconfig.ConfigValueMap {
	return dynamicconfig.ConfigValueMap{
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   plain(pollRPS),
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      plain(pollRPS),
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): plain(pollRPS),
		// A search attribute is usable as soon as it is registered, not a cache refresh later.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): plain(true),
		// The UI and a test's polling together exceed the default of 10 list calls a second.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): plain(100),
		dynamicconfig.EnableServerVersionCheck.Key():                     plain(false),
	}
}

func plain(value any) []dynamicconfig.ConstrainedValue {
	return []dynamicconfig.ConstrainedValue{{Value: value}}
}

// dynamicConfigClient answers the server with the caller's values, then ours, then
// the server's defaults.
func dynamicConfigClient(overrides dynamicconfig.ConfigValueMap) dynamicconfig.Client {
	values := tuning()
	maps.Copy(values, overrides)
	client := make(dynamicconfig.StaticClient, len(values))
	for key, value := range values {
		client[key] = value
	}
	return client
}

// parseDynamicConfig reads KEY=JSON pairs. A key that this server does not know, or a
// value of the wrong type, is refused: the server itself would go on with its default
// and the caller would look for the reason elsewhere.
func parseDynamicConfig(pairs []string) (dynamicconfig.ConfigValueMap, error) {
	var loader dynamicconfig.YamlLoader
	for _, pair := range pairs {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--dynamic-config-value %q is not KEY=JSON, such as limit.maxIDLength=500", pair)
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil { // JSON is YAML
			return nil, fmt.Errorf("--dynamic-config-value %s: %q is not JSON: %w", key, text, err)
		}
		unconstrained, err := yaml.Marshal([]map[string]any{{"value": value}})
		if err != nil {
			return nil, fmt.Errorf("--dynamic-config-value %s: %w", key, err)
		}
		loader.LoadValue(dynamicconfig.MakeKey(key), unconstrained)
		if err := errors.Join(append(loader.Errors, loader.Warnings...)...); err != nil {
			return nil, fmt.Errorf("--dynamic-config-value %s: Temporal %s does not take it: %w", pair, serverVersion, err)
		}
	}
	return loader.Map, nil
}
