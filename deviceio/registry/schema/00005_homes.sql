-- Homes: whose device it is, and who may command, confirm and hear there. Every device is of one home.

-- +goose Up
CREATE TABLE homes (
    id            TEXT   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL,
    -- What a voice at its devices may do that nobody knows: 0 or 1.
    voice_command BIGINT NOT NULL,
    voice_confirm BIGINT NOT NULL,
    voice_hear    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL
);
-- Before there were homes every voice at a device was heard: so it stays in the home of the devices of that time.
INSERT INTO homes (id, name, voice_command, voice_confirm, voice_hear, created_at) VALUES ('home', '', 1, 1, 1, 0);

CREATE TABLE users (
    id          TEXT   NOT NULL PRIMARY KEY,
    home_id     TEXT   NOT NULL REFERENCES homes (id),
    name        TEXT   NOT NULL,
    may_command BIGINT NOT NULL,
    may_confirm BIGINT NOT NULL,
    may_hear    BIGINT NOT NULL,
    token_hash  TEXT   NOT NULL DEFAULT '', -- hex SHA-256; '' for one who comes with a configured token
    token_owner TEXT   NOT NULL DEFAULT '', -- the owner of a configured token; '' for one with a token of their own
    created_at  BIGINT NOT NULL
);
CREATE INDEX users_home ON users (home_id);
CREATE UNIQUE INDEX users_token ON users (token_hash) WHERE token_hash <> '';
CREATE UNIQUE INDEX users_owner ON users (token_owner) WHERE token_owner <> '';

-- How the devices of a home call the people whose voices they know.
CREATE TABLE user_speakers (
    home_id    TEXT NOT NULL REFERENCES homes (id),
    speaker_id TEXT NOT NULL,
    user_id    TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (home_id, speaker_id)
);
CREATE INDEX user_speakers_user ON user_speakers (user_id);

-- The home is checked where it is written: SQLite adds no column that refers to another table and has a default.
ALTER TABLE devices ADD COLUMN home_id TEXT NOT NULL DEFAULT 'home';
CREATE INDEX devices_home ON devices (home_id);

-- +goose Down
DROP INDEX devices_home;
ALTER TABLE devices DROP COLUMN home_id;
DROP TABLE user_speakers;
DROP TABLE users;
DROP TABLE homes;
