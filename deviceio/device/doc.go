// Package device is a device's side of Errand's gateway protocol: what a device maker builds on, and the reference
// for a port to another language. It imports package wire and nothing else of the project.
//
// A device makes a Client with Open and calls Run. From then on
//
//   - the Client stays connected: it signs the gateway's challenge with the key in its state directory, waits to be
//     approved, reconnects for ever, and gives up a connection on which the gateway has fallen silent;
//   - each command of the cloud reaches the Handler, once per request id, and its answer goes back;
//   - what happens to a task is told with Emit. Emit is durable when it returns: the event is in the Outbox on disk and
//     reaches the cloud in order, at least once, under the same event id, whatever dies in between.
//
// Four habits make a device safe to command:
//
//   - Accepting is not doing. A Handler answers submitTask at once and reports the work with events, each with the
//     operation id it was given. A command's context ends with its timeout or its cancellation, not with the connection.
//   - The same operation id again moves nothing (Profile.Dedupe): look it up in a store that survives a restart, named
//     by Options.StoreID, and answer with what is known, the stored terminal event included.
//   - Old intentions do not move a robot. A submit's ttlMs counts from when it was sent: take off what Held says.
//   - Keep the intention, then move, then keep the outcome and Emit it. An event with a Key may be emitted again after
//     a crash without doubling.
//
// A device that was stopped by its own button first stands still, and then tells with EmergencyStop, out of turn.
//
// OUTBOX.md beside this file fixes the format of the outbox's file.
package device
