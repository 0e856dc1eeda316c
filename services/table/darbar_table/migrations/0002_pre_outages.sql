-- Clocks of tables leave out the times in which nobody could answer, and a process that was away itself expires nobody.

-- Since when a process has renewed its lease without a gap.
ALTER TABLE table_process ADD COLUMN renewed_since timestamptz NOT NULL DEFAULT '-infinity';

-- ended NULL: the shard has not been served again yet.
CREATE TABLE outage (
    shard int NOT NULL,
    began timestamptz NOT NULL,
    ended timestamptz
);
CREATE INDEX outage_by_shard ON outage (shard);

GRANT SELECT, INSERT, UPDATE, DELETE ON outage TO :service_role;
