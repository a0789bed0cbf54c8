package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// walker finds the mutants of one function.
type walker struct {
	file, function string
	fset           *token.FileSet
	source         []byte
	found          []mutant
}

func (w *walker) text(n ast.Node) string {
	return string(w.source[w.offset(n.Pos()):w.offset(n.End())])
}

func (w *walker) offset(p token.Pos) int { return w.fset.Position(p).Offset }

func (w *walker) replace(operator string, from, to token.Pos, text string) {
	start, end := w.offset(from), w.offset(to)
	w.found = append(w.found, mutant{file: w.file, function: w.function, operator: operator, line: w.fset.Position(from).Line,
		start: start, end: end, text: text, was: string(w.source[start:end]), is: text})
}

// swap replaces the operator of an expression, and shows the expression.
func (w *walker) swap(operator string, n *ast.BinaryExpr, to string) {
	w.replace(operator, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to)
	m := &w.found[len(w.found)-1]
	m.was, m.is = w.text(n), w.text(n.X)+" "+to+" "+w.text(n.Y)
}

// walk walks a body; a function within it is walked with its own results.
func (w *walker) walk(signature *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.walk(n.Type, n.Body)
			return false
		case *ast.IfStmt:
			w.negate(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				w.negate(n.Cond)
			}
		case *ast.SwitchStmt:
			w.cases(n)
		case *ast.BinaryExpr:
			w.binary(n)
		case *ast.ReturnStmt:
			w.returns(signature, n)
		case *ast.ExprStmt:
			if _, call := n.X.(*ast.CallExpr); call {
				w.replace("deletion", n.Pos(), n.End(), "")
			}
		case *ast.AssignStmt:
			w.assignment(n)
		case *ast.IncDecStmt:
			w.replace("deletion", n.Pos(), n.End(), "_ = "+w.text(n.X))
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				w.replace("branch", n.Pos(), n.End(), "break")
			}
		}
		return true
	})
}

func (w *walker) negate(cond ast.Expr) {
	w.replace("condition", cond.Pos(), cond.End(), "!("+w.text(cond)+")")
}

// cases negates the conditions of a switch without a tag.
func (w *walker) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, clause := range n.Body.List {
		if c, ok := clause.(*ast.CaseClause); ok {
			for _, cond := range c.List {
				w.negate(cond)
			}
		}
	}
}

// swaps are the operators that stand next to each other: a boundary moved by one, a condition turned, a sum made a difference.
var swaps = map[token.Token][]struct{ operator, to string }{
	token.LSS: {{"boundary", "<="}}, token.LEQ: {{"boundary", "<"}}, token.GTR: {{"boundary", ">="}}, token.GEQ: {{"boundary", ">"}},
	token.EQL: {{"condition", "!="}}, token.NEQ: {{"condition", "=="}},
	token.LAND: {{"condition", "||"}}, token.LOR: {{"condition", "&&"}},
	token.SUB: {{"arithmetic", "+"}}, token.MUL: {{"arithmetic", "/"}}, token.QUO: {{"arithmetic", "*"}},
}

func (w *walker) binary(n *ast.BinaryExpr) {
	for _, swap := range swaps[n.Op] {
		w.swap(swap.operator, n, swap.to)
	}
	if n.Op == token.ADD && !isText(n.X) && !isText(n.Y) { // two texts cannot be subtracted
		w.swap("arithmetic", n, "-")
	}
}

func isText(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

// returns makes each result something else: a condition turned, a number one more, anything else its zero value.
func (w *walker) returns(signature *ast.FuncType, n *ast.ReturnStmt) {
	if signature.Results == nil {
		return
	}
	var types []ast.Expr
	for _, field := range signature.Results.List {
		for range max(len(field.Names), 1) {
			types = append(types, field.Type)
		}
	}
	if len(types) != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		was, t := w.text(e), w.text(types[i])
		text := "*new(" + t + ")"
		switch {
		case t == "bool":
			text = "!(" + was + ")"
		case strings.HasPrefix(t, "int") || strings.HasPrefix(t, "float"):
			text = "(" + was + ") + 1"
		case was == "nil" || was == `""` || strings.HasSuffix(was, "{}"):
			continue
		}
		w.replace("return", e.Pos(), e.End(), text)
	}
}

// assignment drops what is stored; what is computed is still computed.
func (w *walker) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	blanks := make([]string, len(n.Lhs))
	values := make([]string, len(n.Rhs))
	for i := range n.Lhs {
		blanks[i] = "_"
	}
	for i, e := range n.Rhs {
		values[i] = w.text(e)
		if values[i] == "nil" {
			values[i] = "any(nil)"
		}
	}
	w.replace("deletion", n.Pos(), n.End(), strings.Join(blanks, ", ")+" = "+strings.Join(values, ", "))
}
