// Package load reads a catalog file: YAML whose keys are the JSON names of catalog.Catalog (contract.md §9).
//
// A catalog decides what a robot does in somebody's home, so nothing in the file is guessed at. It is checked against
// a strict JSON Schema (an unknown key is a spelling mistake) and then as a whole: references, templates, conditions,
// and the two borders of law 3 in every routine. Everything wrong is reported at once, each as a line an editor can jump to:
//
//	home.yaml:41:9: capabilities[2].read_back: names the unknown capability "room_claening"
//
// The package reads no files: its caller does, and hands over a name for the report and the bytes.
package load
