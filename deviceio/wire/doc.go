// Package wire is the protocol between a gateway and its devices: its documents as Go types, and the one place that
// reads them. It is a leaf: no sockets, no clock, no state.
//
// The protocol is the OpenClaw Gateway protocol, version 4, role node (contract.md §10). Everything is a Frame, one JSON
// object in one WebSocket text message:
//
//	gateway                                            device
//	event connect.challenge {nonce, ts}          →
//	                                             ←     req connect {client, auth, device{signature}, errand?}
//	res ok:true hello-ok {policy, auth}          →         or ok:false NOT_PAIRED, and the socket closes
//	event tick {ts}, every tickIntervalMs        →         silence for twice as long: close 4000
//
//	event node.invoke.request {id, command}      →
//	                                             ←     req node.invoke.result {id, ok, payload}
//	event node.invoke.cancel {invokeId}          →         no result follows
//
//	                                             ←     req node.event {taskmanager.onTaskEvent, payload}
//	res ok:true {event_id, ack}                  →         ok:false: unrecorded, send it again
//
// A device proves who it is by signing the challenge with its Ed25519 key (Sign, VerifyIdentity, SignatureText). What it
// can be relied on for it declares in Connect.Errand; an unmodified OpenClaw node declares nothing.
//
// Commands are in task.go (submitTask and its kin), events in event.go. Each type has a parser, ParseFrame to
// ParseTaskEvent. A parser
//
//   - bounds what it reads, in bytes, depth and lengths, and brings text to Unicode NFC;
//   - ignores fields it does not know, is strict about the types of those it does, and takes null for absent;
//   - reads snake_case and camelCase (alias.go) and refuses two spellings of one field that disagree;
//   - checks against a JSON Schema (Schemas) and reports every fault at once, each with its path.
//
// Writing needs no help: the types marshal to the form that the contract shows.
package wire
