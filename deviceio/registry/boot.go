package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Boots records the device's boots, oldest first and the current one last, and returns the epoch of each.
//
// A boot keeps its epoch for ever; new ones get higher epochs in the listed order. A list may leave old boots out. One
// that contradicts what is recorded gives a *BootOrderError and changes nothing.
func (r *Registry) Boots(ctx context.Context, deviceID string, boots []string) (map[string]int64, error) {
	if epochs, ok := r.knownOrder(ctx, deviceID, boots); ok {
		return epochs, nil
	}
	epochs := make(map[string]int64, len(boots))
	err := r.within(ctx, deviceID, func(tx *transaction) error {
		known, last, err := knownBoots(ctx, tx, deviceID)
		if err != nil {
			return err
		}
		if err := checkBoots(deviceID, boots, known, last); err != nil {
			return err
		}
		for _, boot := range boots {
			if epoch, ok := known[boot]; ok {
				epochs[boot] = epoch
				continue
			}
			last = after(last, ms(r.now()))
			epochs[boot] = last
			_, err := tx.ExecContext(ctx, `INSERT INTO boots (device_id, boot_id, epoch) VALUES (?, ?, ?)`, deviceID, boot, last)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("record boots: %w", err)
	}
	return epochs, nil
}

// knownOrder finds the epochs of boots that are all on record, and in the listed order: a device that comes back writes nothing. What it
// cannot tell, ok is false for, is told by the transaction.
func (r *Registry) knownOrder(ctx context.Context, deviceID string, boots []string) (epochs map[string]int64, ok bool) {
	known, last, err := knownBoots(ctx, r.db, deviceID)
	if err != nil || checkBoots(deviceID, boots, known, last) != nil {
		return nil, false
	}
	epochs = make(map[string]int64, len(boots))
	for _, boot := range boots {
		if epochs[boot], ok = known[boot]; !ok {
			return nil, false
		}
	}
	return epochs, true
}

// BootEpoch returns the epoch of a boot that was listed before; ok is false for any other.
func (r *Registry) BootEpoch(ctx context.Context, deviceID, bootID string) (epoch int64, ok bool, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT epoch FROM boots WHERE device_id = ? AND boot_id = ?`, deviceID, bootID).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return epoch, err == nil, r.db.classify(err)
}

// CurrentBoot returns the boot that the device listed as its current one last; "" and 0 if it never listed any.
func (r *Registry) CurrentBoot(ctx context.Context, deviceID string) (bootID string, epoch int64, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT boot_id, epoch FROM boots WHERE device_id = ? ORDER BY epoch DESC LIMIT 1`, deviceID).Scan(&bootID, &epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, nil
	}
	return bootID, epoch, r.db.classify(err)
}

// after is the next epoch: above the last one, and never below the clock.
func after(last, now int64) int64 { return max(last+1, now) }

// querier is what reads: the registry, or a transaction of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func knownBoots(ctx context.Context, tx querier, deviceID string) (known map[string]int64, last int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT boot_id, epoch FROM boots WHERE device_id = ?`, deviceID)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	known = make(map[string]int64)
	for rows.Next() {
		var boot string
		var epoch int64
		if err := rows.Scan(&boot, &epoch); err != nil {
			return nil, 0, err
		}
		known[boot], last = epoch, max(last, epoch)
	}
	return known, last, nil
}

// checkBoots finds the boot that contradicts the record, if any.
func checkBoots(deviceID string, boots []string, known map[string]int64, last int64) error {
	contradiction := func(boot, why string) error {
		return &BootOrderError{DeviceID: deviceID, BootID: boot, Why: why}
	}
	if len(boots) == 0 {
		return contradiction("", "is an empty list: it must at least name the current boot")
	}
	seen := make(map[string]bool, len(boots))
	var previous int64
	fresh := false // a boot without an epoch was listed: every later one must be new too
	for _, boot := range boots {
		epoch, old := known[boot]
		switch {
		case boot == "":
			return contradiction(boot, "is not a boot id")
		case seen[boot]:
			return contradiction(boot, "is listed twice")
		case old && fresh:
			return contradiction(boot, "was recorded before a boot that is now listed as older")
		case old && epoch < previous:
			return contradiction(boot, "was recorded in another order")
		}
		seen[boot], previous, fresh = true, epoch, fresh || !old
	}
	if current := boots[len(boots)-1]; !fresh && known[current] < last {
		return contradiction(current, "is listed as the current boot, but a later one was recorded")
	}
	return nil
}
