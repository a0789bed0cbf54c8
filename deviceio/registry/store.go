package registry

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"
)

// store is a database as the rest of this package uses it: one SQL, with ? for its arguments, whichever engine runs it. The
// functions are where the engines differ.
type store struct {
	*sql.DB
	statements sync.Map // by query: what was prepared
	// bind turns ? into what the engine wants.
	bind func(query string) string
	// text is a text as the engine can keep it.
	text func(string) string
	// classify gives an engine's error one of this package's names, where one fits.
	classify func(error) error
	// inPlace tells that the database is still the one that was opened.
	inPlace func() error
	// lock makes the transaction wait until no other one of the same subject runs.
	lock func(ctx context.Context, t *sql.Tx, subject string) error
	// oneWriter tells that transactions run one after the other, each waiting for the disk.
	oneWriter bool
	// prepare checks the database and migrates it.
	prepare func(ctx context.Context, r *Registry) error
}

func (s *store) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := s.DB.ExecContext(ctx, s.bind(query), s.fit(args)...)
	return result, s.classify(err)
}

func (s *store) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	var rows *sql.Rows
	prepared, err := s.statement(ctx, query) //nolint:sqlclosecheck // it is closed with the database
	if err == nil {
		rows, err = prepared.QueryContext(ctx, s.fit(args)...)
	}
	return rows, s.classify(err)
}

func (s *store) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	prepared, err := s.statement(ctx, query) //nolint:sqlclosecheck // it is closed with the database
	if err != nil {
		return s.DB.QueryRowContext(ctx, s.bind(query), s.fit(args)...) // fails as well, and says it where a row is read
	}
	return prepared.QueryRowContext(ctx, s.fit(args)...)
}

// statement prepares a query once: a gateway asks the same few many times a second, and SQLite takes longer to read one than
// to answer it.
func (s *store) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, ok := s.statements.Load(query); ok {
		return known.(*sql.Stmt), nil //nolint:errcheck,forcetypeassert // nothing else is put in
	}
	fresh, err := s.PrepareContext(ctx, s.bind(query))
	if err != nil {
		return nil, err
	}
	s.statements.Store(query, fresh) // of two that are prepared at once, one is closed with the database
	return fresh, nil
}

// fit is the arguments as the engine can keep them.
func (s *store) fit(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = s.text(text)
		}
	}
	return args
}

// transaction is a transaction of a store.
type transaction struct {
	*sql.Tx
	of *store
}

func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.Tx.ExecContext(ctx, t.of.bind(query), t.of.fit(args)...)
}

func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.Tx.QueryContext(ctx, t.of.bind(query), t.of.fit(args)...)
}

func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return t.Tx.QueryRowContext(ctx, t.of.bind(query), t.of.fit(args)...)
}

// within runs f in one transaction, which is on disk when within returns nil. What f reads of the subject nobody else changes
// meanwhile: of two transactions that read and then write, one waits. "" is for those that only write.
func (r *Registry) within(ctx context.Context, subject string, f func(*transaction) error) error {
	if err := r.db.inPlace(); err != nil {
		return err
	}
	began, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return r.db.classify(err)
	}
	if subject != "" {
		err = r.db.lock(ctx, began, subject)
	}
	if err == nil {
		err = f(&transaction{Tx: began, of: r.db})
	}
	if err != nil {
		return r.db.classify(errors.Join(err, began.Rollback()))
	}
	return r.db.classify(began.Commit())
}

// numbered turns each ? into $1, $2 and so on. No query of this package has a ? in a text.
func numbered(query string) string {
	var out strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			out.WriteString("$" + strconv.Itoa(n))
		}
		out.WriteString(part)
		n++
	}
	return out.String()
}
