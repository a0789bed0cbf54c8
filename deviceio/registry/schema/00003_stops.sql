-- Emergency stops: each is one row, in force until a person releases it. A stop told again under the same id is the same stop,
-- and does not come back once it was released.

-- +goose Up
CREATE TABLE device_stops (
    device_id   TEXT   NOT NULL REFERENCES devices (id),
    stop_id     TEXT   NOT NULL,            -- the device's event id, or a random one of a person's
    stopped_at  BIGINT NOT NULL,
    stopped_by  TEXT   NOT NULL,
    why         TEXT   NOT NULL,
    released_at BIGINT NOT NULL DEFAULT 0,  -- 0: in force
    released_by TEXT   NOT NULL DEFAULT '',
    told_at     BIGINT NOT NULL DEFAULT 0,  -- when the device's plans had heard of it; 0: not yet
    PRIMARY KEY (device_id, stop_id)
);
CREATE INDEX device_stops_open ON device_stops (device_id) WHERE released_at = 0 OR told_at = 0;

-- +goose Down
DROP TABLE device_stops;
