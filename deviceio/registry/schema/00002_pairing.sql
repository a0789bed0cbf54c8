-- What a person approves is a surface: the commands a device advertised when it was let in. What it offers beyond them later
-- waits for the next approval.

-- +goose Up
ALTER TABLE devices ADD COLUMN instance_id TEXT NOT NULL DEFAULT '';       -- of the installation behind the key; '' if it names none
ALTER TABLE devices ADD COLUMN permissions TEXT NOT NULL DEFAULT '{}';     -- granted or not, as it said when it connected
ALTER TABLE devices ADD COLUMN approved_commands TEXT NOT NULL DEFAULT '[]';
ALTER TABLE devices ADD COLUMN state_at BIGINT NOT NULL DEFAULT 0;         -- when its state was set
-- Who was let in before there was a surface was let in with all it had.
UPDATE devices SET approved_commands = commands, state_at = last_seen_at WHERE state = 'approved';
CREATE INDEX devices_state ON devices (state, state_at);
-- One installation has one key: a second one under its name is let in by nobody.
CREATE UNIQUE INDEX devices_instance ON devices (instance_id) WHERE state = 'approved' AND instance_id <> '';

CREATE TABLE setup_codes (
    code_hash  TEXT   NOT NULL PRIMARY KEY, -- hex SHA-256; the code itself is nowhere
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    device_id  TEXT   NOT NULL DEFAULT ''   -- of the one device that used it
);
CREATE INDEX setup_codes_expires ON setup_codes (expires_at);

-- +goose Down
DROP TABLE setup_codes;
DROP INDEX devices_instance;
DROP INDEX devices_state;
ALTER TABLE devices DROP COLUMN state_at;
ALTER TABLE devices DROP COLUMN approved_commands;
ALTER TABLE devices DROP COLUMN permissions;
ALTER TABLE devices DROP COLUMN instance_id;
