-- One file holds the world, what was done to it, and every task: so that an effect, the task's stored terminal
-- event and the state of the world are one transaction.
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS world (id INTEGER PRIMARY KEY CHECK (id = 1), doc TEXT NOT NULL);

-- The ledger of physical effects. operation_id is deliberately not unique: the ledger must be able to show a doubled effect.
CREATE TABLE IF NOT EXISTS effects (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  operation_id TEXT NOT NULL, task_method TEXT NOT NULL, kind TEXT NOT NULL, room_id TEXT NOT NULL,
  at INTEGER NOT NULL, boot_id TEXT NOT NULL, world_revision INTEGER NOT NULL,
  target_id TEXT NOT NULL DEFAULT '');
-- What people did to the objects of the home, apart from any operation.
CREATE TABLE IF NOT EXISTS by_hand (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL, target_id TEXT NOT NULL, at INTEGER NOT NULL, boot_id TEXT NOT NULL, world_revision INTEGER NOT NULL);
-- One row per drive; ended_at is null while the wheels turn. resumed counts restarts in the middle of it.
CREATE TABLE IF NOT EXISTS motions (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  operation_id TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, completed INTEGER NOT NULL DEFAULT 0,
  resumed INTEGER NOT NULL DEFAULT 0);

CREATE TABLE IF NOT EXISTS tasks (
  operation_id TEXT PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, step TEXT NOT NULL, arrival INTEGER NOT NULL,
  state TEXT NOT NULL, ended_at INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS tasks_by_step ON tasks (step);
-- The highest generation seen of each step.
CREATE TABLE IF NOT EXISTS fences (step TEXT PRIMARY KEY, generation INTEGER NOT NULL, at INTEGER NOT NULL);
-- Operations that must never run: cancelled before they came, or refused when they came.
CREATE TABLE IF NOT EXISTS tombstones (operation_id TEXT PRIMARY KEY, at INTEGER NOT NULL, reason TEXT NOT NULL);

-- Events of tasks, written with the change they tell of. event_id is null until the outbox has taken them.
CREATE TABLE IF NOT EXISTS events (
  n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, operation_id TEXT NOT NULL, event_name TEXT NOT NULL,
  at INTEGER NOT NULL, payload TEXT NOT NULL, event_id TEXT);
CREATE INDEX IF NOT EXISTS events_pending ON events (n) WHERE event_id IS NULL;
CREATE INDEX IF NOT EXISTS events_by_operation ON events (operation_id);

CREATE TABLE IF NOT EXISTS said (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, locale TEXT NOT NULL, at INTEGER NOT NULL, operation_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS questions (
  question_id TEXT PRIMARY KEY, text TEXT NOT NULL, choices TEXT NOT NULL, expires_at INTEGER NOT NULL, asked_at INTEGER NOT NULL,
  choice TEXT, answered_at INTEGER, told INTEGER NOT NULL DEFAULT 0);
