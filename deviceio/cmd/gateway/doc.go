// Command gateway holds the devices' sockets (package deviceio/gateway) and runs the activities that need a device.
//
// It polls two Temporal task queues: "deviceio", on which any gateway finds a device, and one of its own, fresh for each
// process start, for the commands to the devices whose sockets it holds. It needs Temporal and the registry file. Run
// several against one registry: the registry says which of them holds which device.
//
// On standard output it prints one line, when devices may connect, with TLS with the certificate's fingerprint:
//
//	gateway ready: ws://127.0.0.1:7420/ queue deviceio@gw-4k2h7q3m5xw6
//	gateway ready: wss://192.0.2.7:7420/ queue deviceio@gw-4k2h7q3m5xw6 fingerprint 9f86d081884c7d65...
//
// Everything else goes to standard error. SIGINT or SIGTERM drain it: commands in flight get 10 s to be answered, events in
// hand are recorded, and every socket closes with 1012, so that the devices come back. It exits 0 after a signal, and 1 with
// one line why when it could not start or run.
//
// With arguments it does not serve, but shows its certificate (gateway certificate) or makes the next one (gateway rotate [IN]):
// docs/gateways.md.
//
// Settings are config.Gateway (ERRAND_GATEWAY_LISTEN, ERRAND_TOKEN, ...) and the Temporal client's TEMPORAL_*;
// `errand config` lists them.
package main
