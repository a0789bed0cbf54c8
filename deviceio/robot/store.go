package robot

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// storeFile is the robot's one file inside its state directory.
const storeFile = "robot.db"

//go:embed schema.sql
var schema string

// store is the robot's memory. Every change goes through write: one transaction, on disk before anyone hears of it.
type store struct {
	db *sql.DB
	// id names this memory (contract.md §3, store_id): another one means that the old one was lost.
	id string
}

// openStore opens or makes the file. synchronous=FULL: a commit is on the disk, or it did not happen.
func openStore(ctx context.Context, dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	path := filepath.Join(dir, storeFile)
	db, err := sql.Open("sqlite", source(path, "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)&_txlock=immediate"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	s := &store{db: db}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return s, nil
}

// source names a file with options, whatever characters its path has.
func source(path, options string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options
}

func (s *store) prepare(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	if err := s.addTargets(ctx); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, `INSERT OR IGNORE INTO meta VALUES ('store_id', ?)`, "store-"+rand.Text()[:16]); err != nil {
		return err
	}
	return s.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'store_id'`).Scan(&s.id)
}

// addTargets brings a ledger up to date that is older than the objects of the home.
func (s *store) addTargets(ctx context.Context) error {
	var has int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('effects') WHERE name = 'target_id'`).Scan(&has)
	if err != nil || has > 0 {
		return err
	}
	return exec(ctx, s.db, `ALTER TABLE effects ADD COLUMN target_id TEXT NOT NULL DEFAULT ''`)
}

func (s *store) close() error { return s.db.Close() }

// write runs change in one transaction.
func (s *store) write(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := change(tx); err != nil {
		return fmt.Errorf("store: %w", errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// execer is what a single statement needs.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func exec(ctx context.Context, db execer, query string, args ...any) error {
	_, err := db.ExecContext(ctx, query, args...)
	return err
}

func putWorld(ctx context.Context, tx *sql.Tx, w *World) error {
	doc, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return exec(ctx, tx, `INSERT INTO world VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET doc = excluded.doc`, string(doc))
}

// world returns the stored world; found is false in a new store.
func (s *store) world(ctx context.Context) (w World, found bool, err error) {
	var doc string
	switch err := s.db.QueryRowContext(ctx, `SELECT doc FROM world`).Scan(&doc); {
	case errors.Is(err, sql.ErrNoRows):
		return World{}, false, nil
	case err != nil:
		return World{}, false, err
	}
	err = json.Unmarshal([]byte(doc), &w)
	return w, true, err
}

func putTask(ctx context.Context, tx *sql.Tx, t *Task) error {
	doc, err := json.Marshal(t)
	if err != nil {
		return err
	}
	step, _, err := splitOperation(t.Spec.OperationID)
	if err != nil {
		return err
	}
	return exec(ctx, tx, `INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (operation_id) DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at, doc = excluded.doc`,
		t.Spec.OperationID, t.ID, step, t.Arrival, string(t.State), t.EndedAt, string(doc))
}

// task finds a task by operation id or task id; nil means there is none.
func (s *store) task(ctx context.Context, operationID, taskID string) (*Task, error) {
	column, id := "operation_id", operationID
	if operationID == "" {
		column, id = "task_id", taskID
	}
	tasks, err := scanTasks(ctx, s.db, `SELECT doc FROM tasks WHERE `+column+` = ?`, id)
	if err != nil || len(tasks) == 0 {
		return nil, err
	}
	return tasks[0], nil
}

// live returns the tasks that are not over, in order of arrival.
func (s *store) live(ctx context.Context) ([]*Task, error) {
	return scanTasks(ctx, s.db, `SELECT doc FROM tasks WHERE ended_at = 0 ORDER BY arrival`)
}

// lastArrival is the number of the newest task.
func (s *store) lastArrival(ctx context.Context) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(arrival), 0) FROM tasks`).Scan(&n)
	return n, err
}

func scanTasks(ctx context.Context, q querier, query string, args ...any) ([]*Task, error) {
	return collect(ctx, q, func(rows *sql.Rows, t **Task) error {
		var doc string
		if err := rows.Scan(&doc); err != nil {
			return err
		}
		*t = new(Task)
		return json.Unmarshal([]byte(doc), *t)
	}, query, args...)
}

// collect reads every row of a query.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string, args ...any) (found []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// forget drops what is older than the declared retention: tasks that are over and told, their events, fences and
// tombstones. The ledger is never cut.
func (s *store) forget(ctx context.Context, before int64) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{
			`DELETE FROM tasks WHERE ended_at > 0 AND ended_at < ?1 AND arrival < (SELECT max(arrival) FROM tasks)
			   AND operation_id NOT IN (SELECT operation_id FROM events WHERE event_id IS NULL)`,
			`DELETE FROM events WHERE event_id IS NOT NULL AND at < ?1 AND operation_id NOT IN (SELECT operation_id FROM tasks)`,
			`DELETE FROM fences WHERE at < ?1`,
			`DELETE FROM tombstones WHERE at < ?1`,
		} {
			if err := exec(ctx, tx, query, before); err != nil {
				return err
			}
		}
		return nil
	})
}
