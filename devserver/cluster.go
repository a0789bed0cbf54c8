package main

import (
	"fmt"
	"net/netip"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

const (
	// clusterName is written into every namespace: changing it strands existing files.
	clusterName = "active"

	dataStore = "sqlite"
	disabled  = "disabled"

	// shards is the number of history shards. In one process on one file, more of them
	// only divide the same work. An existing file keeps the number it was made with.
	shards = 1
)

// newCluster composes the four services of a Temporal server into one that can be
// started, on the given ports and database.
func newCluster(ip netip.Addr, at ports, db *config.SQL, tunables dynamicconfig.Client, logger log.Logger) (temporal.Server, error) {
	server, err := temporal.NewServer(
		temporal.WithConfig(clusterConfig(ip, at, db)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(ip, at)),
		temporal.WithLogger(logger),
		temporal.WithDynamicConfigClient(tunables),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("compose the Temporal server: %w", err)
	}
	return server, nil
}

// grpcPorts says which service listens where.
func (p ports) grpcPorts() map[primitives.ServiceName]int {
	return map[primitives.ServiceName]int{
		primitives.FrontendService: p.Frontend,
		primitives.HistoryService:  p.History,
		primitives.MatchingService: p.Matching,
		primitives.WorkerService:   p.Worker,
	}
}

// hosts tells every service where the others are, which replaces the gossip that a
// real cluster needs, and its ports.
func hosts(ip netip.Addr, at ports) map[primitives.ServiceName]static.Hosts {
	all := make(map[primitives.ServiceName]static.Hosts)
	for service, port := range at.grpcPorts() {
		all[service] = static.SingleLocalHost(hostPort(ip, port))
	}
	return all
}

// clusterConfig is the configuration file we do not have. There are no metrics and no
// profiler: each would be one more port.
func clusterConfig(ip netip.Addr, at ports, db *config.SQL) *config.Config {
	frontend := hostPort(ip, at.Frontend)
	services := make(map[string]config.Service)
	for service, port := range at.grpcPorts() {
		rpc := config.RPC{GRPCPort: port, BindOnIP: ip.String()}
		if service == primitives.FrontendService {
			rpc.HTTPPort = at.HTTP
		}
		services[string(service)] = config.Service{RPC: rpc}
	}
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{BroadcastAddress: ip.String()},
		},
		Persistence: config.Persistence{
			DefaultStore:     dataStore,
			VisibilityStore:  dataStore,
			NumHistoryShards: shards,
			DataStores:       map[string]config.DataStore{dataStore: {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					RPCAddress:             frontend,
					HTTPAddress:            hostPort(ip, at.HTTP),
				},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            services,
		PublicClient:        config.PublicClient{HostPort: frontend},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: disabled},
			Visibility: config.VisibilityArchival{State: disabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{
			Archival: config.ArchivalNamespaceDefaults{
				History:    config.HistoryArchivalNamespaceDefaults{State: disabled},
				Visibility: config.VisibilityArchivalNamespaceDefaults{State: disabled},
			},
		},
	}
}
