-- One event stream a table, and who owns it.

CREATE TABLE table_process (
    process_id text PRIMARY KEY,
    address text NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE TABLE shard (
    shard int PRIMARY KEY CHECK (shard BETWEEN 0 AND 1023),
    process_id text
);
INSERT INTO shard (shard) SELECT generate_series(0, 1023);

CREATE TABLE event (
    table_id uuid NOT NULL,
    version int NOT NULL CHECK (version > 0),
    kind text NOT NULL,
    body json NOT NULL,
    at timestamptz NOT NULL,
    chain bytea NOT NULL CHECK (octet_length(chain) = 32),
    PRIMARY KEY (table_id, version)
);

-- Which tables there are and whether they are still open; what a new owner of a shard loads.
CREATE TABLE open_table (
    table_id uuid PRIMARY KEY,
    shard int NOT NULL,
    game text NOT NULL
);
CREATE INDEX open_table_by_shard ON open_table (shard);

-- Milestones that other services have not been told yet.
CREATE TABLE outbox (
    table_id uuid NOT NULL,
    number int NOT NULL CHECK (number > 0),
    shard int NOT NULL,
    message json NOT NULL,
    PRIMARY KEY (table_id, number)
);

-- One account sits at one table.
CREATE TABLE seat_claim (
    account_id text PRIMARY KEY,
    table_id uuid NOT NULL
);
CREATE INDEX seat_claim_by_table ON seat_claim (table_id);

-- A table that a fault of ours has stopped, with what stopped it.
CREATE TABLE frozen_table (
    table_id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    reason text NOT NULL,
    command json
);

GRANT SELECT, INSERT, UPDATE, DELETE ON table_process TO :service_role;
GRANT SELECT, UPDATE ON shard TO :service_role;
GRANT SELECT, INSERT ON event TO :service_role;
GRANT SELECT, INSERT, DELETE ON open_table TO :service_role;
GRANT SELECT, INSERT, DELETE ON outbox TO :service_role;
GRANT SELECT, INSERT, DELETE ON seat_claim TO :service_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON frozen_table TO :service_role;
