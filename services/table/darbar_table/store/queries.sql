-- register --
-- A process comes to life. The database's clock decides about expiry.
INSERT INTO table_process (process_id, address, expires_at)
VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 second')

-- renew --
-- A non-key update: it does not wait for appends, which hold the row FOR KEY SHARE.
UPDATE table_process SET expires_at = clock_timestamp() + $2::float8 * interval '1 second'
 WHERE process_id = $1
RETURNING process_id

-- expire_processes --
-- Waits for appends in flight; after it the dead process stores nothing.
DELETE FROM table_process WHERE expires_at < clock_timestamp() RETURNING process_id

-- retire --
DELETE FROM table_process WHERE process_id = $1

-- processes --
SELECT process_id, address FROM table_process WHERE expires_at >= clock_timestamp() ORDER BY process_id

-- shards --
SELECT s.shard, p.process_id FROM shard s LEFT JOIN table_process p USING (process_id) ORDER BY s.shard

-- claim_shards --
-- Takes what has no living owner. Rows are locked in order, so that two claimants never wait for each other.
WITH free AS (
    SELECT s.shard FROM shard s
     WHERE s.shard = ANY($2::int[])
       AND NOT EXISTS (SELECT 1 FROM table_process p WHERE p.process_id = s.process_id)
     ORDER BY s.shard
       FOR UPDATE
)
UPDATE shard SET process_id = $1 FROM free
 WHERE shard.shard = free.shard
   AND EXISTS (SELECT 1 FROM table_process WHERE process_id = $1)
RETURNING shard.shard

-- append --
-- Stores the events of many tables and their milestones. The process row is the fence; the primary key refuses a
-- version that is taken. One statement, autocommit: it is all there or not at all.
WITH alive AS MATERIALIZED (
    SELECT 1 FROM table_process WHERE process_id = $1 FOR KEY SHARE
), stored AS (
    INSERT INTO event (table_id, version, kind, body, at, chain)
    SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::json[], $6::timestamptz[], $7::bytea[])
     WHERE EXISTS (SELECT 1 FROM alive)
    RETURNING 1
), told AS (
    INSERT INTO outbox (table_id, number, shard, message)
    SELECT * FROM unnest($8::uuid[], $9::int[], $10::int[], $11::json[])
     WHERE EXISTS (SELECT 1 FROM alive)
)
SELECT count(*) FROM stored

-- lock_own_row --
-- Waits for an append whose outcome is unknown: it holds this row FOR KEY SHARE until it ends.
SELECT 1 FROM table_process WHERE process_id = $1 FOR UPDATE

-- last_versions --
SELECT DISTINCT ON (table_id) table_id, version, chain FROM event
 WHERE table_id = ANY($1::uuid[])
 ORDER BY table_id, version DESC

-- chains_at --
-- The chain of one given version of each table, where that version is stored.
SELECT e.table_id, e.version, e.chain
  FROM unnest($1::uuid[], $2::int[]) AS asked (table_id, version)
  JOIN event e USING (table_id, version)

-- open_table --
INSERT INTO open_table (table_id, shard, game) VALUES ($1, $2, $3) ON CONFLICT (table_id) DO NOTHING

-- close_table --
DELETE FROM open_table WHERE table_id = $1

-- open_tables --
SELECT table_id, game FROM open_table WHERE shard = ANY($1::int[]) ORDER BY table_id

-- game_of --
SELECT game FROM open_table WHERE table_id = $1

-- events_of --
SELECT table_id, version, kind, body, at, chain FROM event
 WHERE table_id = ANY($1::uuid[])
 ORDER BY table_id, version

-- outbox_of --
SELECT table_id, number, message FROM outbox WHERE shard = ANY($1::int[]) ORDER BY table_id, number LIMIT $2

-- outbox_done --
DELETE FROM outbox USING unnest($1::uuid[], $2::int[]) AS told (table_id, number)
 WHERE outbox.table_id = told.table_id AND outbox.number = told.number

-- claim_seat --
-- The second row of one account is refused by the primary key; asking again for the same table is granted.
INSERT INTO seat_claim (account_id, table_id) VALUES ($1, $2)
ON CONFLICT (account_id) DO NOTHING

-- claim_of --
SELECT table_id FROM seat_claim WHERE account_id = $1

-- free_claims --
DELETE FROM seat_claim WHERE table_id = $1 AND account_id = ANY($2::text[])

-- mend_claims --
-- After loading: claims of accounts that do not sit there go away.
DELETE FROM seat_claim WHERE table_id = $1 AND NOT account_id = ANY($2::text[])

-- freeze --
INSERT INTO frozen_table (table_id, reason, command) VALUES ($1, $2, $3)
ON CONFLICT (table_id) DO UPDATE SET reason = excluded.reason, command = excluded.command, at = now()

-- frozen --
SELECT table_id FROM frozen_table WHERE table_id = ANY($1::uuid[])
