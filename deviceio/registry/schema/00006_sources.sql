-- How fresh a device's sources were when it told last (device-source-freshness.v1), for people: what decides anything is read
-- from the device itself.

-- +goose Up
CREATE TABLE device_sources (
    device_id   TEXT   NOT NULL PRIMARY KEY REFERENCES devices (id),
    told        TEXT   NOT NULL,            -- JSON: the freshness of a device_context.v1, and which areas are available
    received_at BIGINT NOT NULL             -- Unix ms, the gateway's clock
);

-- +goose Down
DROP TABLE device_sources;
