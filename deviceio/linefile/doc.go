// Package linefile is how a device's side keeps things in an append-only file that a crash at any moment cannot spoil: the
// outbox (package device) and the shim's journal (package shim) are such files.
//
// A line is the checksum of a JSON text, a space, the text and a newline. What one write adds is one line, there as a whole
// or not at all (Append, then fsync). Reading (Read) tells a torn last line, which nobody was promised, from damage, which
// no crash explains. A file is written anew by Replace: after a crash there is the old one or the new one.
package linefile
