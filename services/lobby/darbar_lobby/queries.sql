-- Accounts and sessions.

-- new_account --
-- The account and the coins it is owed are stored together: a wallet that is away loses nobody's grant.
WITH made AS (
    INSERT INTO account (account_id, name, avatar) VALUES ($1, $2, $3) RETURNING account_id
)
INSERT INTO grant_due (account_id, grant_key, next_at)
SELECT account_id, $4, now() + $5 * interval '1 second' FROM made;

-- account --
-- An account with what only the server may know.
SELECT account_id, name, avatar, role, name_login, password_hash FROM account WHERE account_id = $1 AND deleted_at IS NULL;

-- account_by_login --
-- The same, by the name that signs in.
SELECT account_id, name, avatar, role, name_login, password_hash FROM account WHERE name_login = $1;

-- change_account --
-- Changes nothing when the password was changed meanwhile by somebody else.
UPDATE account
   SET name = $2, avatar = $3, name_login = $4, password_hash = $5
 WHERE account_id = $1 AND password_hash IS NOT DISTINCT FROM $6
RETURNING account_id, name, avatar, role, name_login, password_hash;

-- new_family --
-- A sign-in.
INSERT INTO token_family (family_id, account_id) VALUES ($1, $2);

-- new_refresh_token --
-- The next token of a sign-in.
INSERT INTO refresh_token (token_sha256, family_id, expires_at) VALUES ($1, $2, now() + $3 * interval '1 day');

-- family_locked --
-- All that happens to the tokens of one sign-in happens one after the other.
SELECT family_id, account_id, revoked_at IS NOT NULL AS family_revoked
  FROM token_family
 WHERE family_id = (SELECT family_id FROM refresh_token WHERE token_sha256 = $1)
   FOR UPDATE;

-- refresh_state --
-- After family_locked, as a statement of its own: it sees what the one before stored.
SELECT expires_at <= clock_timestamp() AS expired,
       extract(epoch FROM clock_timestamp() - used_at)::float8 AS used_seconds,
       successor_salt,
       (SELECT successor.used_at IS NOT NULL FROM refresh_token AS successor
         WHERE successor.token_sha256 = refresh_token.successor_sha256) AS successor_used
  FROM refresh_token
 WHERE token_sha256 = $1;

-- use_refresh_token --
-- Shown again soon, it gets the same successor; later whoever shows it is a thief, or was robbed.
UPDATE refresh_token
   SET used_at = clock_timestamp(), successor_salt = $2, successor_sha256 = $3
 WHERE token_sha256 = $1;

-- revoke_family --
-- Ends a sign-in.
UPDATE token_family SET revoked_at = coalesce(revoked_at, now()) WHERE family_id = $1;

-- revoke_family_of_token --
-- Logs out: any token of the sign-in will do, an old one too.
UPDATE token_family SET revoked_at = coalesce(revoked_at, now())
 WHERE family_id = (SELECT family_id FROM refresh_token WHERE token_sha256 = $1);

-- revoke_families_of_account --
-- Logs out everywhere.
UPDATE token_family SET revoked_at = coalesce(revoked_at, now()) WHERE account_id = $1 AND revoked_at IS NULL;

-- Coins for new accounts.

-- grants_due --
-- Taken for a while, so that another lobby does not ask for the same one at the same moment.
UPDATE grant_due SET attempts = attempts + 1, next_at = now() + $2 * interval '1 second'
 WHERE account_id IN (
    SELECT account_id FROM grant_due WHERE refused_reason IS NULL AND next_at <= now()
     ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING account_id, grant_key;

-- grant_done --
-- The wallet has confirmed the coins.
DELETE FROM grant_due WHERE account_id = $1;

-- grant_refused --
-- The wallet will never say yes: somebody has to look at it.
UPDATE grant_due SET refused_reason = $2 WHERE account_id = $1;

-- grants_waiting --
-- For the metric.
SELECT count(*) FROM grant_due;

-- The directory.

-- intend --
-- The intent is stored before the table service is asked: a repeat with the same key finishes the same table. While
-- operators drain nothing new is intended (TL-40).
INSERT INTO idempotency (account_id, key, body_sha256, table_id, request, making_until)
SELECT $1, $2, $3, $4, $5, now() + $6 * interval '1 second' FROM maintenance WHERE NOT draining
ON CONFLICT (account_id, key) DO NOTHING
RETURNING table_id;

-- intention --
-- What is stored under a key.
SELECT account_id, key, body_sha256, request, status, answer FROM idempotency WHERE account_id = $1 AND key = $2;

-- intention_of_table --
-- What a table is being made from, for whoever has to finish it.
SELECT account_id, key, body_sha256, request, status, answer FROM idempotency WHERE table_id = $1;

-- make_intention --
-- Nobody makes this table any more, and it is not made: whoever gets a row is the maker now.
UPDATE idempotency SET making_until = now() + $3 * interval '1 second'
 WHERE account_id = $1 AND key = $2 AND status IS NULL AND (making_until IS NULL OR making_until <= now())
RETURNING table_id;

-- release_intention --
-- The maker has failed.
UPDATE idempotency SET making_until = NULL WHERE account_id = $1 AND key = $2;

-- answer_intention --
-- The first answer stays: of two repeats at once both send the same one.
UPDATE idempotency SET status = $3, answer = $4 WHERE account_id = $1 AND key = $2 AND status IS NULL
RETURNING table_id;

-- new_entry --
-- Leaves an entry that is there as it is: milestones may have told of the table first.
INSERT INTO directory (table_id, host_id, game, options, seats, bet_coins, turn_seconds, visibility, bot_level,
                       invite_token, free_seats, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (table_id) DO NOTHING;

-- forget_intent --
-- Only a table that no milestone has confirmed.
DELETE FROM directory WHERE table_id = $1 AND state = 'asked' AND number = 0;

-- entry --
-- A table, with its seats in another statement.
SELECT * FROM directory WHERE table_id = $1;

-- entry_locked --
-- The same, and nobody else changes it meanwhile.
SELECT * FROM directory WHERE table_id = $1 FOR UPDATE;

-- number --
-- The last milestone of a table that was applied.
SELECT number FROM directory WHERE table_id = $1;

-- holders --
-- Who sits at a table.
SELECT seat, account_id, taken_at FROM seat_holder WHERE table_id = $1 ORDER BY seat;

-- write_entry --
-- What milestones change.
UPDATE directory
   SET state = $2, generation = $3, number = $4, free_seats = $5, playing = $6, round = $7,
       options = $8, seats = $9, version = $10, chain = $11,
       closed_at = CASE WHEN $2 = 'closed' THEN coalesce(closed_at, now()) END
 WHERE table_id = $1;

-- clear_holders --
-- Before write_holders.
DELETE FROM seat_holder WHERE table_id = $1;

-- write_holders --
-- All seats of a table at once.
INSERT INTO seat_holder (table_id, seat, account_id, taken_at)
SELECT $1, * FROM unnest($2::int[], $3::text[], $4::timestamptz[]);

-- seated_at --
-- Milestones of different tables are not ordered among themselves: the newest seat counts.
SELECT directory.* FROM seat_holder JOIN directory USING (table_id)
 WHERE account_id = $1 AND state = 'open'
 ORDER BY taken_at DESC, sequence DESC LIMIT 1;

-- people --
-- Names and avatars, for a table whose owner does not answer.
SELECT account_id, name, avatar FROM account WHERE account_id = ANY($1::text[]);

-- listed --
-- One page of public tables with a free seat, newest first.
SELECT directory.*, account.handle AS host_handle, account.name AS host_name, account.avatar AS host_avatar
  FROM directory LEFT JOIN account ON account_id = host_id
 WHERE state = 'open' AND visibility = 'public' AND free_seats > 0
   AND ($1::text IS NULL OR game = $1) AND bet_coins BETWEEN $2 AND $3
   AND ($4::bigint IS NULL OR sequence < $4)
 ORDER BY sequence DESC LIMIT $5;

-- Quick play. All of these but the last run in one transaction that begins with quick_play_locked.

-- quick_play_locked --
-- Whoever seeks the same game and bet is served one after the other, in whichever process.
SELECT pg_advisory_xact_lock(hashtextextended('quick_play ' || $1::text || ' ' || $2::int, 0));

-- quick_play_best --
-- The table to send an account to ($3). Places held by others who are on their way count as taken. The account's own
-- comes first, whoever is there: the table it is making or has sat down at since it was looked for, the one it was sent to before. Then
-- tables that wait before tables that play, fuller ones before emptier ones, older ones before younger ones.
SELECT directory.*
  FROM directory
 CROSS JOIN LATERAL (
    SELECT count(*) AS held FROM quick_play_place AS place
     WHERE place.table_id = directory.table_id AND place.held_until > now() AND place.account_id <> $3
       AND NOT (state = 'asked' AND place.account_id = host_id)
       AND NOT EXISTS (SELECT 1 FROM seat_holder
                        WHERE seat_holder.table_id = place.table_id AND seat_holder.account_id = place.account_id)
  ) AS places
 CROSS JOIN LATERAL (
    SELECT (state = 'asked' AND host_id = $3)
        OR EXISTS (SELECT 1 FROM seat_holder
                    WHERE seat_holder.table_id = directory.table_id AND seat_holder.account_id = $3) AS is_there,
           EXISTS (SELECT 1 FROM quick_play_place AS place
                    WHERE place.table_id = directory.table_id AND place.account_id = $3
                      AND place.held_until > now()) AS is_coming
  ) AS own
 WHERE game = $1 AND bet_coins = $2 AND visibility = 'public' AND free_seats > 0
   AND (free_seats > places.held OR own.is_there)
   AND state <> 'closed' AND (state = 'open' OR created_at > now() - $4 * interval '1 second')
   AND (abandoned_until IS NULL OR abandoned_until <= now())
   AND directory.table_id <> ALL($5::uuid[])
   AND (own.is_there OR NOT EXISTS (
        SELECT 1 FROM block JOIN (
            SELECT account_id FROM seat_holder WHERE seat_holder.table_id = directory.table_id
            UNION ALL
            SELECT account_id FROM quick_play_place AS place
             WHERE place.table_id = directory.table_id AND place.held_until > now()
            UNION ALL
            SELECT host_id WHERE state = 'asked') AS there
            ON (block.account_id, block.blocked_id) IN (($3, there.account_id), (there.account_id, $3))))
   AND ($6::bigint IS NULL OR sequence < $6)
 ORDER BY own.is_there DESC, own.is_coming DESC, playing, free_seats - places.held, sequence
 LIMIT 1;

-- quick_play_held --
-- Who else is on the way to a table.
SELECT account_id FROM quick_play_place WHERE table_id = $1 AND account_id <> $2 AND held_until > now();

-- hold_place --
-- An account is on its way to one table at a time.
INSERT INTO quick_play_place (account_id, table_id, held_until) VALUES ($1, $2, now() + $3 * interval '1 second')
ON CONFLICT (account_id) DO UPDATE SET table_id = excluded.table_id, held_until = excluded.held_until;

-- abandon --
-- Its host leaves it for an older one.
UPDATE directory SET abandoned_until = now() + $2 * interval '1 second' WHERE table_id = $1;

-- stay --
-- The host did not get away: people are sent here again, and no place waits for the host elsewhere.
WITH stays AS (UPDATE directory SET abandoned_until = NULL WHERE table_id = $1)
DELETE FROM quick_play_place WHERE account_id = $2;

-- by_code --
-- A code opens nothing while no seat is free.
SELECT directory.* FROM code JOIN directory USING (table_id)
 WHERE code = $1 AND freed_at IS NULL AND state = 'open' AND free_seats > 0;

-- by_invite --
-- An invite outlives a full table: its bearer sees that it is full.
SELECT * FROM directory WHERE invite_token = $1 AND state = 'open';

-- code_of --
-- The live code of a table.
SELECT code FROM code WHERE table_id = $1 AND freed_at IS NULL;

-- give_code --
-- A code that was freed lately is not given again yet.
INSERT INTO code (code, table_id) VALUES ($1, $2)
ON CONFLICT (code) DO UPDATE SET table_id = excluded.table_id, freed_at = NULL
   WHERE code.freed_at < now() - $3 * interval '1 second'
RETURNING code;

-- free_code --
-- The code rests from now on.
UPDATE code SET freed_at = now() WHERE table_id = $1 AND freed_at IS NULL;

-- Maintenance.

-- maintenance --
-- What operators have said last.
SELECT number, announcement, draining FROM maintenance;

-- change_maintenance --
-- Only what the operator speaks of ($1, $3), and only when that is news.
UPDATE maintenance
   SET number = number + 1,
       announcement = CASE WHEN $1::boolean THEN $2::text ELSE announcement END,
       draining = coalesce($3::boolean, draining),
       operator = $4, at = now()
 WHERE ($1 AND announcement IS DISTINCT FROM $2) OR draining <> $3;

-- Blocks.

-- block --
-- A repeat changes nothing. Two at once may both be the last one that fits: one more does no harm.
INSERT INTO block (account_id, blocked_id)
SELECT $1, $2 WHERE (SELECT count(*) FROM block WHERE account_id = $1) < $3
ON CONFLICT DO NOTHING;

-- unblock --
-- By the handle that strangers know.
DELETE FROM block WHERE account_id = $1 AND blocked_id = (SELECT account_id FROM account WHERE handle = $2)
RETURNING blocked_id;

-- blockers --
-- Who of these has blocked an account.
SELECT account_id FROM block WHERE blocked_id = $1 AND account_id = ANY($2::text[]);

-- blocked --
-- The last one first.
SELECT account.account_id, handle, name, avatar FROM block JOIN account ON account.account_id = blocked_id
 WHERE block.account_id = $1 ORDER BY at DESC, blocked_id;

-- Tables whose milestones could not be applied.

-- park --
-- A table that is parked already keeps its turn, or has one no later than this.
INSERT INTO parked_table (table_id, reason, next_at) VALUES ($1, $2, now() + $3 * interval '1 second')
ON CONFLICT (table_id) DO UPDATE
   SET reason = excluded.reason,
       next_at = least(parked_table.next_at, now() + $4 * interval '1 second');

-- parked --
-- Whether one is.
SELECT 1 FROM parked_table WHERE table_id = $1;

-- parked_due --
-- Taken for a while that doubles, so that another lobby does not try the same one at the same moment.
UPDATE parked_table
   SET attempts = attempts + 1,
       next_at = now() + least($2 * 2 ^ least(attempts + 1, 16), $3) * interval '1 second'
 WHERE table_id IN (SELECT table_id FROM parked_table WHERE next_at <= now()
                     ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING table_id;

-- unpark --
-- All of its milestones are applied, or nobody knows of it.
DELETE FROM parked_table WHERE table_id = $1;

-- parked_count --
-- For the metric.
SELECT count(*) FROM parked_table;

-- Tidying, a bounded number of rows at a time.

-- forget_refresh_tokens --
-- Their time was over long ago.
DELETE FROM refresh_token WHERE token_sha256 IN (
    SELECT token_sha256 FROM refresh_token WHERE expires_at < now() - $2 * interval '1 day' LIMIT $1);

-- forget_families --
-- Sign-ins without a token left.
DELETE FROM token_family WHERE family_id IN (
    SELECT family_id FROM token_family
     WHERE created_at < now() - $2 * interval '1 day'
       AND NOT EXISTS (SELECT 1 FROM refresh_token WHERE refresh_token.family_id = token_family.family_id) LIMIT $1);

-- forget_intentions --
-- Nobody repeats a creation after so long.
DELETE FROM idempotency WHERE (account_id, key) IN (
    SELECT account_id, key FROM idempotency WHERE created_at < now() - $2 * interval '1 day' LIMIT $1);

-- forget_intents --
-- Asked, never answered, and no milestone ever came: there is no such table.
DELETE FROM directory WHERE table_id IN (
    SELECT table_id FROM directory
     WHERE state = 'asked' AND number = 0 AND created_at < now() - $2 * interval '1 day' LIMIT $1);

-- forget_codes --
-- They have rested.
DELETE FROM code WHERE code IN (
    SELECT code FROM code WHERE freed_at < now() - $2 * interval '1 day' LIMIT $1);

-- forget_places --
-- Whoever held them has sat down, or did not come.
DELETE FROM quick_play_place WHERE account_id IN (
    SELECT account_id FROM quick_play_place WHERE held_until < now() - $2 * interval '1 day' LIMIT $1);
