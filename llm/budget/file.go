package budget

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// ErrNewer means that a newer Errand wrote the file. Run that one, or give this one a file of its own.
var ErrNewer = errors.New("the budget file was written by a newer version")

// File keeps the accounts in one SQLite file, which several processes may open. What Take has taken is on disk.
type File struct {
	db   *sql.DB
	path string
	now  func() time.Time
}

var _ Store = (*File)(nil)

const (
	// fileVersion is the version of the schema below.
	fileVersion = 1
	// keepPlans is how long a plan's account is kept after its last call: longer than any plan lives.
	keepPlans = 90 * 24 * time.Hour
)

const schema = `CREATE TABLE IF NOT EXISTS spent (
	account    TEXT   NOT NULL PRIMARY KEY, -- "plan/<id>" or "month/<year>-<month>"
	calls      BIGINT NOT NULL,
	tokens     BIGINT NOT NULL,
	touched_at BIGINT NOT NULL              -- Unix milliseconds
)`

// Open opens the file at path and makes it if it is absent. The folder must exist. The accounts of plans that are long over
// are thrown away; months are kept.
func Open(ctx context.Context, path string) (*File, error) {
	// Every transaction takes the write lock at its start, so that two processes that read and then write wait for each other.
	query := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	source := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query.Encode()}).String()
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("budget %s: %w", path, err)
	}
	f := &File{db: db, path: path, now: time.Now}
	if err := f.within(ctx, func(tx *sql.Tx) error { return f.prepare(ctx, tx) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *File) prepare(ctx context.Context, tx *sql.Tx) error {
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > fileVersion {
		return fmt.Errorf("%w: its schema is %d, this program knows %d", ErrNewer, version, fileVersion)
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", schema, fileVersion))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM spent WHERE account LIKE 'plan/%' AND touched_at < ?`, f.now().Add(-keepPlans).UnixMilli())
	return err
}

// Close lets go of the file.
func (f *File) Close() error { return f.db.Close() }

// Take adds an amount to every account, or to none.
func (f *File) Take(ctx context.Context, amount Spent, accounts ...Account) error {
	return f.within(ctx, func(tx *sql.Tx) error {
		for _, account := range accounts {
			spent, err := read(ctx, tx, account.Name)
			if err == nil {
				err = allow(account, spent, amount)
			}
			if err != nil {
				return err
			}
		}
		return f.add(ctx, tx, amount, accounts)
	})
}

// Correct adds an amount to every account.
func (f *File) Correct(ctx context.Context, amount Spent, accounts ...Account) error {
	return f.within(ctx, func(tx *sql.Tx) error { return f.add(ctx, tx, amount, accounts) })
}

// Spent tells what an account has spent.
func (f *File) Spent(ctx context.Context, account string) (spent Spent, err error) {
	err = f.within(ctx, func(tx *sql.Tx) error {
		spent, err = read(ctx, tx, account)
		return err
	})
	return spent, err
}

func (f *File) add(ctx context.Context, tx *sql.Tx, amount Spent, accounts []Account) error {
	for _, account := range accounts {
		_, err := tx.ExecContext(ctx, `INSERT INTO spent (account, calls, tokens, touched_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (account) DO UPDATE SET calls = calls + excluded.calls, tokens = tokens + excluded.tokens, touched_at = excluded.touched_at`,
			account.Name, amount.Calls, amount.Tokens, f.now().UnixMilli())
		if err != nil {
			return err
		}
	}
	return nil
}

func read(ctx context.Context, tx *sql.Tx, account string) (spent Spent, err error) {
	err = tx.QueryRowContext(ctx, `SELECT calls, tokens FROM spent WHERE account = ?`, account).Scan(&spent.Calls, &spent.Tokens)
	if errors.Is(err, sql.ErrNoRows) {
		return Spent{}, nil
	}
	return spent, err
}

// within runs do in one transaction, which is on disk when within returns nil.
func (f *File) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err == nil {
		if err = do(tx); err == nil {
			err = tx.Commit()
		} else {
			err = errors.Join(err, tx.Rollback())
		}
	}
	if err != nil {
		return fmt.Errorf("budget %s: %w", f.path, err)
	}
	return nil
}
