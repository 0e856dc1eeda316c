-- lock --
-- No process may begin while shards go. Nobody waits for long behind this: what holds it up is to be stopped first.
LOCK TABLE table_process, shard IN ACCESS EXCLUSIVE MODE

-- define --
-- As `shard_of` in shards/placement.py.
CREATE FUNCTION pg_temp.shard_of(table_id uuid) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(digest, 0) * 256 + get_byte(digest, 1)) % 1024 FROM sha256(uuid_send(table_id)) AS digest
$$

-- processes --
SELECT count(*) FROM table_process WHERE expires_at >= clock_timestamp()

-- shards_of_others --
SELECT count(*) FROM shard WHERE shard NOT BETWEEN $1 AND $2

-- shards_there --
SELECT count(*) FROM shard WHERE shard BETWEEN $1 AND $2

-- tables_of_others --
SELECT count(*) FROM open_table WHERE shard NOT BETWEEN $1 AND $2

-- forget_tables --
DELETE FROM open_table WHERE shard NOT BETWEEN $1 AND $2

-- forget_milestones --
DELETE FROM outbox WHERE shard NOT BETWEEN $1 AND $2

-- forget_outages --
DELETE FROM outage WHERE shard NOT BETWEEN $1 AND $2

-- forget_seats --
DELETE FROM seat_claim WHERE pg_temp.shard_of(table_id) NOT BETWEEN $1 AND $2

-- forget_frozen --
DELETE FROM frozen_table WHERE pg_temp.shard_of(table_id) NOT BETWEEN $1 AND $2

-- forget_snapshots --
DELETE FROM table_snapshot WHERE pg_temp.shard_of(table_id) NOT BETWEEN $1 AND $2

-- forget_shards --
DELETE FROM shard WHERE shard NOT BETWEEN $1 AND $2

-- remove_logs --
DELETE FROM event WHERE table_id = ANY($1::uuid[])

-- remove_archived_logs --
DELETE FROM event_archive WHERE table_id = ANY($1::uuid[])
