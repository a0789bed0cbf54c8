// Package gateway holds the devices' sockets: it is where the wire ends and plans begin.
//
// A device connects over WebSocket with the OpenClaw Gateway protocol 4, role node (contract.md §10). It proves its key,
// shows a token, is approved once by a person, and from then on two things flow:
//
//   - Outwards, commands. Link's methods (Submit, CancelTask, Status, Context, Say, Ask) are what device activities call.
//     They run in the process that holds the socket, because that process polls a task queue of its own (TaskQueue), and
//     the registry tells everybody which gateway that is. An error that is plan.ErrNotConnected means that surely nothing
//     was sent; any other error means that the device may have it.
//   - Inwards, events. Each is read, stripped of the result fields that no catalog lists (law 4), and handed to its plan as
//     one Temporal signal. Only then is it acknowledged: applied, or late, unmatched or refused once the registry holds
//     it. ok:false means that it is recorded nowhere, and the device sends it again (law 19).
//
// One socket's life, by file: handshake.go (who are you), auth.go (may you come in), gate.go (may you be asked for this now), session.go (read and answer),
// invoke.go (ask and await), events.go (take and acknowledge), presence.go (who is here, and who replaced whom).
// A device without a socket comes by HTTP (routes.go, httpconnect.go): its events in batches (batch.go), its commands by a long poll (poll.go), from a
// mailbox that stands where the socket would (mailbox.go).
// translate.go is the only place where wire types become plan types.
//
// Where it speaks TLS, certificate.go tells devices of the certificate that will take the place of the one it shows.
//
// Events of one device are handled strictly in order, even across a reconnect. A second connection of a device replaces
// the first: the registry's growing connection epoch tells which is newer.
package gateway
