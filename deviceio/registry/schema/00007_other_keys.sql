-- A known installation that came with another key: an operator sees it at the device that is known. Who comes is turned away.

-- +goose Up
ALTER TABLE devices ADD COLUMN other_key_device TEXT NOT NULL DEFAULT ''; -- the id that goes with the other key; '' for none
ALTER TABLE devices ADD COLUMN other_key_at BIGINT NOT NULL DEFAULT 0;    -- when it came last

-- +goose Down
ALTER TABLE devices DROP COLUMN other_key_at;
ALTER TABLE devices DROP COLUMN other_key_device;
