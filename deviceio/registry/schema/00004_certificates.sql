-- Which TLS certificate a gateway shows, and which it announced to show next: an invite tells it.

-- +goose Up
ALTER TABLE gateways ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';      -- lowercase hex SHA-256; '' for none, without TLS
ALTER TABLE gateways ADD COLUMN next_fingerprint TEXT NOT NULL DEFAULT ''; -- '' for none

-- +goose Down
ALTER TABLE gateways DROP COLUMN next_fingerprint;
ALTER TABLE gateways DROP COLUMN fingerprint;
