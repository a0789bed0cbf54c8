package main

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
	"github.com/temporalio/ui-server/v2/server/version"
)

// uiVersion is the Temporal UI compiled in.
const uiVersion = version.UIVersion

// webUI is Temporal's own web UI, serving until stopped.
type webUI struct {
	server *uiserver.Server
	// URL is where a browser finds it.
	URL string
}

// startUI serves the UI on a port that choosePorts found free. Should it be taken
// since, the UI ends the process itself, with a line that names the port.
//
// A person may look, query, cancel and terminate. Reset and signal are off: a reset
// starts a run again from some earlier event, and a hand-written signal is an event
// that no device sent, so both would make a plan's history claim what did not happen.
func startUI(ip netip.Addr, at ports, codecEndpoint string) *webUI {
	host := ip.String()
	if ip.Is6() {
		host = "[" + host + "]" // the UI joins host and port with a plain colon
	}
	server := uiserver.NewServer(server_options.WithConfigProvider(&uiconfig.Config{
		TemporalGRPCAddress:    hostPort(ip, at.Frontend),
		Host:                   host,
		Port:                   at.UI,
		EnableUI:               true,
		DefaultNamespace:       defaultNamespace,
		DisableNewsFetch:       true, // calls nobody
		HideLogs:               true,
		Codec:                  uiconfig.Codec{Endpoint: codecEndpoint},
		WorkflowResetDisabled:  true,
		WorkflowSignalDisabled: true,
	}))
	go func() { _ = server.Start() }() // returns nil once stopped, and only then
	return &webUI{server: server, URL: "http://" + hostPort(ip, at.UI)}
}

// awaitHealthy returns when the UI answers.
func (u *webUI) awaitHealthy(ctx context.Context) error {
	return eventually(ctx, "the web UI at "+u.URL, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.URL+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET /healthz answered %s", response.Status)
		}
		return nil
	})
}

func (u *webUI) stop() {
	u.server.Stop()
}
