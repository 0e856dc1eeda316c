-- register --
-- A process comes to life. The database's clock decides about expiry.
INSERT INTO table_process (process_id, address, expires_at)
VALUES ($1, $3, clock_timestamp() + $2::float8 * interval '1 second')
RETURNING process_id

-- renew --
-- A non-key update: it does not wait for appends, which hold the row FOR KEY SHARE. A renewal that comes after the
-- expiry, because the database was away, begins a new count of `renewed_since`.
UPDATE table_process
   SET expires_at = clock_timestamp() + $2::float8 * interval '1 second',
       renewed_since = CASE WHEN expires_at < clock_timestamp() THEN clock_timestamp() ELSE renewed_since END
 WHERE process_id = $1
RETURNING process_id

-- expire_processes --
-- Waits for appends in flight; after it the dead process stores nothing. Only one that has itself renewed without a
-- gap may judge: after an outage of the database all leases have run out, and the first to look must not expire the
-- others. The outage began with the last renewal.
WITH judge AS (
    SELECT 1 FROM table_process
     WHERE process_id = $1 AND expires_at >= clock_timestamp()
       AND renewed_since <= clock_timestamp() - $2::float8 * interval '1 second'
), dead AS (
    DELETE FROM table_process
     WHERE expires_at < clock_timestamp() AND process_id <> $1 AND EXISTS (SELECT 1 FROM judge)
    RETURNING process_id, expires_at
), noted AS (
    INSERT INTO outage (shard, began)
    SELECT s.shard, dead.expires_at - $2::float8 * interval '1 second'
      FROM shard s JOIN dead USING (process_id)
     WHERE NOT EXISTS (SELECT 1 FROM outage o WHERE o.shard = s.shard AND o.ended IS NULL)
)
SELECT process_id FROM dead

-- retire --
-- A process that stops takes its row away, so that nobody waits for its expiry.
WITH gone AS (
    DELETE FROM table_process WHERE process_id = $1 RETURNING process_id
)
INSERT INTO outage (shard, began)
SELECT s.shard, clock_timestamp() FROM shard s JOIN gone USING (process_id)
 WHERE NOT EXISTS (SELECT 1 FROM outage o WHERE o.shard = s.shard AND o.ended IS NULL)

-- living_processes --
-- Those that may be given shards.
SELECT process_id FROM table_process WHERE expires_at >= clock_timestamp() AND NOT leaving ORDER BY process_id

-- begin_leaving --
-- A non-key update, as a renewal is one.
UPDATE table_process SET leaving = true WHERE process_id = $1

-- hand_over_shards --
-- Another process will have them: nobody answers for them until it has loaded them, which is an outage like any other.
-- Asked again after an unknown outcome it waits for the statement before, and takes nothing away from the successor.
WITH successor AS (
    SELECT 1 FROM table_process WHERE process_id = $3 AND expires_at >= clock_timestamp() AND NOT leaving FOR KEY SHARE
), mine AS (
    SELECT shard FROM shard WHERE shard = ANY($2::int[]) AND process_id = $1 ORDER BY shard FOR UPDATE
), noted AS (
    INSERT INTO outage (shard, began)
    SELECT mine.shard, clock_timestamp() FROM mine
     WHERE EXISTS (SELECT 1 FROM successor)
       AND NOT EXISTS (SELECT 1 FROM outage o WHERE o.shard = mine.shard AND o.ended IS NULL)
)
UPDATE shard SET process_id = $3 FROM mine WHERE shard.shard = mine.shard AND EXISTS (SELECT 1 FROM successor)

-- shard_owners --
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

-- outages --
SELECT shard, began, coalesce(ended, clock_timestamp()) AS ended FROM outage WHERE shard = ANY($1::int[])

-- note_outage --
INSERT INTO outage (shard, began, ended)
SELECT shard, clock_timestamp() - $2::float8 * interval '1 second', clock_timestamp() FROM unnest($1::int[]) AS shard

-- end_outages --
-- The longest clock of a table is ten minutes.
WITH forgotten AS (
    DELETE FROM outage WHERE shard = ANY($1::int[]) AND ended < clock_timestamp() - interval '1 hour'
)
UPDATE outage SET ended = clock_timestamp() WHERE shard = ANY($1::int[]) AND ended IS NULL

-- append_moves --
-- Stores the events of many tables. The process row is the fence; the primary key refuses a version that is taken.
-- One statement, autocommit: it is all there or not at all.
WITH alive AS MATERIALIZED (
    SELECT 1 FROM table_process WHERE process_id = $1 FOR KEY SHARE
), stored AS (
    INSERT INTO event (table_id, version, kind, body, at, chain)
    SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::json[], $6::timestamptz[], $7::bytea[])
     WHERE EXISTS (SELECT 1 FROM alive)
    RETURNING 1
)
SELECT count(*) FROM stored

-- append --
-- The same, with all that such events bring along: milestones to publish (and published ones to forget), tables that
-- open and close, accounts that take and free a seat, tables that an operator thaws. The primary key of seat_claim
-- refuses an account a second table.
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
), opened AS (
    INSERT INTO open_table (table_id, shard, game)
    SELECT * FROM unnest($12::uuid[], $13::int[], $14::text[])
     WHERE EXISTS (SELECT 1 FROM alive)
), closed AS (
    DELETE FROM open_table WHERE table_id = ANY($15::uuid[]) AND EXISTS (SELECT 1 FROM alive)
), claimed AS (
    INSERT INTO seat_claim (account_id, table_id)
    SELECT * FROM unnest($16::text[], $17::uuid[])
     WHERE EXISTS (SELECT 1 FROM alive)
), freed AS (
    DELETE FROM seat_claim USING unnest($18::text[], $19::uuid[]) AS gone (account_id, table_id)
     WHERE seat_claim.account_id = gone.account_id AND seat_claim.table_id = gone.table_id
       AND EXISTS (SELECT 1 FROM alive)
), thawed AS (
    DELETE FROM frozen_table USING unnest($2::uuid[], $4::text[]) AS told (table_id, kind)
     WHERE frozen_table.table_id = told.table_id AND told.kind IN ('table_resumed', 'table_voided')
       AND EXISTS (SELECT 1 FROM alive)
), published AS (
    DELETE FROM outbox USING unnest($20::uuid[], $21::int[]) AS done (table_id, number)
     WHERE outbox.table_id = done.table_id AND outbox.number = done.number
)
SELECT count(*) FROM stored

-- lock_own_row --
-- Waits for an append whose outcome is unknown: it holds this row FOR KEY SHARE until it ends.
SELECT 1 FROM table_process WHERE process_id = $1 FOR UPDATE

-- chains_at --
-- The chain of one given version of each table, where that version is stored.
SELECT e.table_id, e.version, e.chain
  FROM unnest($1::uuid[], $2::int[]) AS asked (table_id, version)
  JOIN event e USING (table_id, version)

-- open_tables --
-- With how many events each has, so that logs are read in portions that no limit can hit.
SELECT o.table_id, o.game, coalesce((SELECT max(version) FROM event e WHERE e.table_id = o.table_id), 0) AS events
  FROM open_table o WHERE o.shard = ANY($1::int[]) ORDER BY o.table_id

-- open_table --
SELECT o.table_id, o.game, coalesce((SELECT max(version) FROM event e WHERE e.table_id = o.table_id), 0) AS events
  FROM open_table o WHERE o.table_id = $1

-- was_voided --
-- Without a row: there never was such a table.
SELECT bool_or(kind = $2) AS was_voided FROM every_event WHERE table_id = $1 HAVING count(*) > 0

-- close_table --
DELETE FROM open_table WHERE table_id = $1

-- replay_head --
-- What decides to whom a log may be shown, and how much of it: only a few kinds are looked into. Those are the first
-- event's ($3: of taking a seat, $4: of showing the seeds, $6: of changing options) and what may follow the seeds ($5)
-- and belongs to the finished round.
SELECT (array_agg((body->'terms')::text ORDER BY version DESC) FILTER (WHERE version = 1 OR kind = $6))[1] AS terms,
       coalesce(bool_or(CASE WHEN version = 1 THEN body->'host'->>'account_id' = $2
                             WHEN kind = $3 THEN body->>'account_id' = $2 END), false) AS has_sat_here,
       min(version) FILTER (WHERE kind = $4) AS first_end,
       max(version) FILTER (WHERE kind = $4 OR kind = ANY($5::text[])) AS last_end,
       coalesce(array_agg((body->>'bag')::int) FILTER (WHERE kind = $4 AND body->>'bag_seed' IS NOT NULL),
                '{}') AS bags_shown
  FROM every_event
 WHERE table_id = $1 AND (version = 1 OR kind IN ($3, $4, $6) OR kind = ANY($5::text[]))

-- log_page --
SELECT version, kind, body, at, chain FROM every_event
 WHERE table_id = $1 AND version > $2 AND version <= $3
 ORDER BY version LIMIT $4

-- turn_began --
-- When what is decided after a version became due: the last event up to it whose kind is none of these.
SELECT at FROM every_event
 WHERE table_id = $1 AND version <= $2 AND kind <> ALL($3::text[])
 ORDER BY version DESC LIMIT 1

-- sits_there --
-- Whether one of these accounts has a seat at the table.
SELECT EXISTS (SELECT 1 FROM seat_claim WHERE table_id = $1 AND account_id = ANY($2::text[])) AS sits

-- tables_after --
-- The ids of the next tables that have a log, one step in the index for each.
WITH RECURSIVE page (table_id, place) AS (
    (SELECT table_id, 1 FROM every_event WHERE $1::uuid IS NULL OR table_id > $1 ORDER BY table_id LIMIT 1)
     UNION ALL
    SELECT (SELECT e.table_id FROM every_event AS e WHERE e.table_id > page.table_id ORDER BY e.table_id LIMIT 1),
           page.place + 1
      FROM page WHERE page.table_id IS NOT NULL AND page.place < $2
)
SELECT table_id FROM page WHERE table_id IS NOT NULL ORDER BY place

-- coins_of --
-- What the wallet was asked and has answered, of these tables.
SELECT table_id, kind, body->>'key' AS key FROM every_event
 WHERE table_id = ANY($1::uuid[]) AND kind = ANY($2::text[])
 ORDER BY table_id, version

-- frozen_tables --
SELECT table_id, at, reason, command FROM frozen_table ORDER BY at DESC LIMIT $1

-- events_between --
-- Of each table, a window of versions counted from one of its own.
SELECT e.table_id, e.version, e.kind, e.body, e.at, e.chain
  FROM unnest($1::uuid[], $2::int[]) AS asked (table_id, known)
  JOIN event e ON e.table_id = asked.table_id AND e.version > asked.known + $3 AND e.version <= asked.known + $4
 ORDER BY e.table_id, e.version

-- snapshots --
-- The chain of the version says that the snapshot is of this very log.
SELECT s.table_id, s.version, s.state_version, s.chain, s.body
  FROM table_snapshot s JOIN event e USING (table_id, version)
 WHERE s.table_id = ANY($1::uuid[]) AND s.chain = e.chain

-- keep_snapshots --
-- Of a table that changes hands, the newer one stays.
INSERT INTO table_snapshot (table_id, version, state_version, chain, body)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::bytea[], $5::bytea[])
ON CONFLICT (table_id) DO UPDATE
   SET version = excluded.version, state_version = excluded.state_version, chain = excluded.chain, body = excluded.body
 WHERE excluded.version > table_snapshot.version OR excluded.state_version <> table_snapshot.state_version

-- archive_tables --
SELECT archive_tables($1, $2) AS tables

-- outbox_of --
SELECT table_id, number, message FROM outbox WHERE shard = ANY($1::int[]) ORDER BY table_id, number LIMIT $2

-- outbox_done --
DELETE FROM outbox USING unnest($1::uuid[], $2::int[]) AS told (table_id, number)
 WHERE outbox.table_id = told.table_id AND outbox.number = told.number

-- claim_of --
SELECT table_id FROM seat_claim WHERE account_id = $1

-- mend_claims --
-- After loading: claims of accounts that do not sit at these tables go away.
DELETE FROM seat_claim c
 WHERE c.table_id = ANY($1::uuid[])
   AND NOT EXISTS (SELECT 1 FROM unnest($2::text[], $3::uuid[]) AS sits (account_id, table_id)
                    WHERE sits.account_id = c.account_id AND sits.table_id = c.table_id)

-- freeze --
INSERT INTO frozen_table (table_id, reason, command) VALUES ($1, $2, $3)
ON CONFLICT (table_id) DO UPDATE SET reason = excluded.reason, command = excluded.command, at = now()

-- frozen --
SELECT table_id FROM frozen_table WHERE table_id = ANY($1::uuid[])
