package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"errand/catalog/fresh"
)

// SetSources records how fresh a device's sources are, as it told at the time in a device_context.v1. Only that is kept: what
// the sources say is the device's own.
func (r *Registry) SetSources(ctx context.Context, id string, told map[string]any, at time.Time) error {
	body, err := json.Marshal(aboutSources(told))
	if err != nil {
		return err
	}
	return one(r.db.ExecContext(ctx, `INSERT INTO device_sources (device_id, told, received_at) VALUES (?, ?, ?)
		ON CONFLICT (device_id) DO UPDATE SET told = excluded.told, received_at = excluded.received_at`, id, string(body), ms(at)))
}

// aboutSources is what of a context says how fresh it is.
func aboutSources(told map[string]any) map[string]any {
	kept := map[string]any{"snapshot_ts": told["snapshot_ts"], "freshness": told["freshness"]}
	sources, _ := told["freshness"].(map[string]any)
	for name := range sources {
		area, isArea := told[name].(map[string]any)
		if !isArea {
			continue
		}
		kept[name] = map[string]any{"available": area["available"] != false}
	}
	return kept
}

// Sources tells how fresh a device's sources are now, by what it told last, and when that was; the zero time is never.
func (r *Registry) Sources(ctx context.Context, id string, now time.Time) ([]fresh.Source, time.Time, error) {
	var body string
	var received int64
	err := r.db.QueryRowContext(ctx, `SELECT told, received_at FROM device_sources WHERE device_id = ?`, id).Scan(&body, &received)
	if errors.Is(err, sql.ErrNoRows) {
		return []fresh.Source{}, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(body), &told); err != nil {
		return nil, time.Time{}, fmt.Errorf("the sources of device %s: %w", short(id), err)
	}
	return fresh.Sources(fresh.Receive(told, received), ms(now)), instant(received), nil
}
