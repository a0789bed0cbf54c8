// Package tools pins the programs that check Errand's code: golangci-lint,
// workflowcheck and govulncheck. It is a module of its own, so that the hundreds
// of packages a linter is made of never appear in the go.mod of what we ship.
//
// The versions are in go.mod, under its tool directives. Build all of them into
// bin/ at the root of the repository with
//
//	go -C tools build -o ../bin/ tool
package tools
