// Package registry remembers what must outlive a connection: which devices there are, who may come in, where each one is
// connected now, the order of its boots, the events that belong to no running plan, and the requests already taken.
//
// It is one SQLite file that every process on a machine opens, or one PostgreSQL database for processes on many machines; Open
// takes either. Gateways write presence and events, the starter reads devices and remembers utterances. The SQL is the same for
// both (store.go says where the engines differ, sqlite.go and postgres.go how).
//
// Who may come in is decided here (approval.go, setupcode.go): a device is pending until a person approves it, and what is
// approved is a surface, the commands that it advertised then. Tokens and setup codes are kept as hashes.
//
// Whose a device is, is said here too (home.go, user.go): each is in one home, and people have rights there: to command, to confirm,
// to hear. Who checks them is the API and the gateway; the registry only says what they are.
//
// Three rules hold, whoever writes:
//
//   - Presence has a time to live. A connection counts only while its lease and the lease of its gateway both run
//     (Route), so a gateway that dies stops being an address by itself.
//   - Epochs only grow. Each connection of a device gets a higher connection epoch, and a holder of an older one can
//     neither renew nor clear the newer (ErrFenced). Each boot gets an epoch in the order in which the device lists its
//     boots, and keeps it for ever (ErrBootOrder when a list contradicts what is recorded). Both start from the clock, so
//     that a registry lost and made anew never gives an old number to something new (design §2, "never fresh epochs").
//   - What is acknowledged is on disk first. Every commit is synchronous.
//
// All times in it are Unix milliseconds by the clock of the writing process; devices' clocks decide nothing here.
package registry
