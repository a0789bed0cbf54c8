package registry

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// openPostgres connects to the database of the URL. What the URL leaves out is read from PGHOST, PGPASSWORD and the like.
func openPostgres(_ context.Context, address string) (*store, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err) // pgx hides the password
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(postgresConnections)
	db.SetMaxIdleConns(postgresConnections)
	s := &store{DB: db, bind: numbered, text: withoutNUL, classify: classifyPostgres, inPlace: func() error { return nil }, lock: advisoryLock}
	s.prepare = func(ctx context.Context, _ *Registry) error {
		if err := s.PingContext(ctx); err != nil {
			return classifyPostgres(err)
		}
		return alone(ctx, s, func() error { return migrate(ctx, s, goose.DialectPostgres) })
	}
	return s, nil
}

// alone runs f while no other process does: of several that start at once on a new database, one migrates and the others wait.
func alone(ctx context.Context, s *store, f func() error) (err error) {
	conn, err := s.Conn(ctx) // the lock is the connection's
	if err != nil {
		return classifyPostgres(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, lockPrefix+"schema"); err != nil {
		return classifyPostgres(err)
	}
	defer func() {
		_, unlocked := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, lockPrefix+"schema")
		err = errors.Join(err, unlocked)
	}()
	return f()
}

// lockPrefix keeps our advisory locks apart from those of others in the same database.
const lockPrefix = "errand/registry/"

const (
	// connectTime bounds one attempt to reach the database, unless the URL says connect_timeout.
	connectTime = 5 * time.Second
	// postgresConnections is how many connections one process holds at most: every one costs the server a process.
	postgresConnections = 8
)

// advisoryLock makes read-and-then-write safe without a stricter isolation, whose conflicts would have to be tried again:
// transactions of one subject run one after the other, those of others beside them. It ends with the transaction.
func advisoryLock(ctx context.Context, t *sql.Tx, subject string) error {
	_, err := t.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, lockPrefix+subject)
	return err
}

// withoutNUL is a text as PostgreSQL takes it: a device may name itself with a U+0000, and would be refused for ever.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\ufffd") }

// classifyPostgres names what keeps the server from being used: it cannot be reached, or lets us in to nothing.
func classifyPostgres(err error) error {
	if err == nil || errors.Is(err, ErrUnreachable) {
		return err
	}
	var refused *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &refused) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var failure *pgconn.PgError
	if errors.As(err, &failure) && len(failure.Code) == 5 {
		switch failure.Code[:2] {
		case "08", "28", "3D", "57": // connection, authorization, no such database, operator intervention such as a shutdown
			return fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
	}
	return err
}
