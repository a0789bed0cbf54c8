package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
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
	s := &store{DB: db, bind: numbered, classify: classifyPostgres, inPlace: func() error { return nil }, lock: advisoryLock}
	s.prepare = func(ctx context.Context, _ *Registry) error {
		if err := s.PingContext(ctx); err != nil {
			return classifyPostgres(err)
		}
		// Of several processes that start at once, one migrates and the others wait.
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		return migrate(ctx, s, goose.DialectPostgres, goose.WithSessionLocker(locker))
	}
	return s, nil
}

const (
	// connectTime bounds one attempt to reach the database, unless the URL says connect_timeout.
	connectTime = 5 * time.Second
	// postgresConnections is how many connections one process holds at most: every one costs the server a process.
	postgresConnections = 8
)

// advisoryLock makes read-and-then-write safe without a stricter isolation, whose conflicts would have to be tried again:
// transactions of one subject run one after the other, those of others beside them. It ends with the transaction.
func advisoryLock(ctx context.Context, t *sql.Tx, subject string) error {
	_, err := t.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "errand/registry/"+subject)
	return err
}

// classifyPostgres names what keeps the server from being used: it cannot be reached, or lets us in to nothing.
func classifyPostgres(err error) error {
	if err == nil || errors.Is(err, ErrUnreachable) {
		return err
	}
	var refused *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &refused) || errors.As(err, &network) {
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
