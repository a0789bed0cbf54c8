-- Plain SQL, so that PostgreSQL can take the same file. Times are Unix milliseconds. Lists and objects are JSON text.

-- +goose Up
CREATE TABLE devices (
    id            TEXT   NOT NULL PRIMARY KEY, -- lowercase hex SHA-256 of the public key
    public_key    TEXT   NOT NULL,             -- unpadded base64url of the 32 raw bytes
    request_id    TEXT   NOT NULL,             -- of the one pairing request: a retry raises no new one
    state         TEXT   NOT NULL CHECK (state IN ('pending', 'approved', 'revoked')),
    display_name  TEXT   NOT NULL,
    friendly_name TEXT   NOT NULL DEFAULT '',  -- what people call it; '' for none
    caps          TEXT   NOT NULL,
    commands      TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    store_id      TEXT   NOT NULL,
    retention_ms  BIGINT NOT NULL,
    rooms         TEXT   NOT NULL DEFAULT '[]',
    rooms_at      BIGINT NOT NULL DEFAULT 0,   -- 0: the room catalog was never read
    created_at    BIGINT NOT NULL,
    last_seen_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX devices_friendly_name ON devices (friendly_name) WHERE friendly_name <> '';

CREATE TABLE device_tokens (
    token_hash TEXT   NOT NULL PRIMARY KEY, -- hex SHA-256; the token itself is nowhere
    device_id  TEXT   NOT NULL REFERENCES devices (id),
    issued_at  BIGINT NOT NULL
);
CREATE INDEX device_tokens_device ON device_tokens (device_id, issued_at);

CREATE TABLE gateways (
    id         TEXT   NOT NULL PRIMARY KEY, -- fresh for each process start
    task_queue TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);

-- One row for each device that ever connected. It stays when the connection ends, to keep the epoch growing.
CREATE TABLE connections (
    device_id        TEXT   NOT NULL PRIMARY KEY REFERENCES devices (id),
    gateway_id       TEXT   NOT NULL REFERENCES gateways (id),
    connection_epoch BIGINT NOT NULL,
    boot_id          TEXT   NOT NULL,
    boot_epoch       BIGINT NOT NULL,
    connected_at     BIGINT NOT NULL,
    expires_at       BIGINT NOT NULL -- 0: ended
);
CREATE INDEX connections_gateway ON connections (gateway_id);

CREATE TABLE boots (
    device_id TEXT   NOT NULL REFERENCES devices (id),
    boot_id   TEXT   NOT NULL,
    epoch     BIGINT NOT NULL,
    PRIMARY KEY (device_id, boot_id),
    UNIQUE (device_id, epoch)
);

CREATE TABLE stray_events (
    device_id   TEXT   NOT NULL REFERENCES devices (id),
    event_id    TEXT   NOT NULL,
    body_hash   TEXT   NOT NULL, -- hex SHA-256 of the bytes as they came
    boot_id     TEXT   NOT NULL,
    seq         BIGINT NOT NULL,
    epoch       BIGINT NOT NULL,
    ack         TEXT   NOT NULL CHECK (ack IN ('late', 'unmatched', 'refused')),
    reason      TEXT   NOT NULL,
    body        TEXT   NOT NULL, -- without the result fields that no catalog lists
    received_at BIGINT NOT NULL,
    PRIMARY KEY (device_id, event_id, body_hash)
);
CREATE INDEX stray_events_received ON stray_events (device_id, received_at);

CREATE TABLE utterances (
    request_key TEXT   NOT NULL PRIMARY KEY,
    body_hash   TEXT   NOT NULL,
    workflow_id TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX utterances_created ON utterances (created_at);

-- +goose Down
DROP TABLE utterances;
DROP TABLE stray_events;
DROP TABLE boots;
DROP TABLE connections;
DROP TABLE gateways;
DROP TABLE device_tokens;
DROP TABLE devices;
