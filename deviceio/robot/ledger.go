package robot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Effect is one row of the ledger: something that physically came about, once and for all.
//
// The law of the world: only the world writes this table, in the transaction that ends the task. So for every
// COMPLETED there is one effect, and for every effect a COMPLETED; a doubled command shows as a second row.
type Effect struct {
	N             int64  `json:"n"`
	OperationID   string `json:"operation_id"`
	TaskMethod    string `json:"task_method"`
	Kind          string `json:"kind"`                // arrived, purified, cleaned, docked, secured, unsecured, answered, turned, came, followed, spoken, alarm_created, ...
	TargetID      string `json:"target_id,omitempty"` // the object that was acted on or made (objects.go)
	RoomID        string `json:"room_id"`
	At            int64  `json:"at"` // Unix ms, device clock
	BootID        string `json:"boot_id"`
	WorldRevision int64  `json:"world_revision"`
}

// Motion is one drive, from the first turn of the wheels to the last.
type Motion struct {
	N           int64  `json:"n"`
	OperationID string `json:"operation_id"`
	StartedAt   int64  `json:"started_at"`
	EndedAt     int64  `json:"ended_at,omitempty"` // 0 while it moves
	Completed   bool   `json:"completed"`          // it got where it was going
	Resumed     int    `json:"resumed"`            // restarts of the robot on the way
}

func addEffect(ctx context.Context, tx *sql.Tx, e Effect) error {
	return exec(ctx, tx, `INSERT INTO effects (operation_id, task_method, kind, room_id, at, boot_id, world_revision, target_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.OperationID, e.TaskMethod, e.Kind, e.RoomID, e.At, e.BootID, e.WorldRevision, e.TargetID)
}

// ByHand is something that a person did to an object at the robot's side. It is no operation's, and stands apart: what the
// ledger says of operations stays one effect for one COMPLETED.
type ByHand struct {
	N             int64  `json:"n"`
	Kind          string `json:"kind"` // alarm_added, door_changed, light_removed, ...
	TargetID      string `json:"target_id"`
	At            int64  `json:"at"` // Unix ms, device clock
	BootID        string `json:"boot_id"`
	WorldRevision int64  `json:"world_revision"`
}

func addByHand(ctx context.Context, tx *sql.Tx, h ByHand) error {
	return exec(ctx, tx, `INSERT INTO by_hand (kind, target_id, at, boot_id, world_revision) VALUES (?, ?, ?, ?, ?)`,
		h.Kind, h.TargetID, h.At, h.BootID, h.WorldRevision)
}

// ReadByHand reads what people did to the objects, as ReadLedger reads the effects.
func ReadByHand(path string) ([]ByHand, error) {
	return readRows(path, `SELECT n, kind, target_id, at, boot_id, world_revision FROM by_hand ORDER BY n`,
		func(rows *sql.Rows, h *ByHand) error {
			return rows.Scan(&h.N, &h.Kind, &h.TargetID, &h.At, &h.BootID, &h.WorldRevision)
		})
}

// startMotion opens a motion, or notes that one goes on after a restart.
func startMotion(ctx context.Context, tx *sql.Tx, operationID string, at int64) error {
	return exec(ctx, tx, `INSERT INTO motions (operation_id, started_at) VALUES (?, ?)`, operationID, at)
}

func resumeMotion(ctx context.Context, tx *sql.Tx, operationID string) error {
	return exec(ctx, tx, `UPDATE motions SET resumed = resumed + 1 WHERE operation_id = ? AND ended_at IS NULL`, operationID)
}

func endMotion(ctx context.Context, tx *sql.Tx, operationID string, at int64, completed bool) error {
	return exec(ctx, tx, `UPDATE motions SET ended_at = ?, completed = ? WHERE operation_id = ? AND ended_at IS NULL`, at, completed, operationID)
}

// ReadLedger reads the effects from a state directory, or from the store file in it, in the order they came about.
// It changes nothing and works while the robot runs. A directory without a store is an error: that is no robot's.
func ReadLedger(path string) ([]Effect, error) {
	return readRows(path, `SELECT n, operation_id, task_method, kind, room_id, at, boot_id, world_revision, target_id FROM effects ORDER BY n`,
		func(rows *sql.Rows, e *Effect) error {
			return rows.Scan(&e.N, &e.OperationID, &e.TaskMethod, &e.Kind, &e.RoomID, &e.At, &e.BootID, &e.WorldRevision, &e.TargetID)
		})
}

// ReadMotions reads the drives, as ReadLedger reads the effects.
func ReadMotions(path string) ([]Motion, error) {
	return readRows(path, `SELECT n, operation_id, started_at, coalesce(ended_at, 0), completed, resumed FROM motions ORDER BY n`,
		func(rows *sql.Rows, m *Motion) error {
			return rows.Scan(&m.N, &m.OperationID, &m.StartedAt, &m.EndedAt, &m.Completed, &m.Resumed)
		})
}

func readRows[T any](path, query string, scan func(*sql.Rows, *T) error) (found []T, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, storeFile)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	db, err := sql.Open("sqlite", source(path, "mode=ro&_pragma=busy_timeout(10000)"))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found, err = collect(context.Background(), db, scan, query)
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", path, err)
	}
	return found, nil
}
