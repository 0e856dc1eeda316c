-- The newest state of a table at the end of a round: whoever loads it reads only the events that came after. A cache: any
-- row may go at any time, and one that fits nothing is ignored.

CREATE TABLE table_snapshot (
    table_id uuid PRIMARY KEY,
    version int NOT NULL CHECK (version > 0),
    state_version text NOT NULL,
    chain bytea NOT NULL CHECK (octet_length(chain) = 32),
    body bytea NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON table_snapshot TO :service_role;
