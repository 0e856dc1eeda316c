-- What the wallet asks its database. Open this when a batch is slow.

-- earlier_answers --
-- Earlier answers under these keys ($1), and what closed these stakes ($2).
SELECT key, kind, request_hash, answer, CASE WHEN kind = 'stake' THEN request END AS stake, NULL AS closes
  FROM transfer
 WHERE key = ANY($1::text[])
 UNION ALL
SELECT key, kind, NULL, NULL, NULL, closes
  FROM transfer
 WHERE closes IS NOT NULL AND closes = ANY($2::text[]);

-- grants_made --
-- Who had the new account's grant, and who a top-up on the database's day.
SELECT account_id, kind
  FROM transfer
 WHERE account_id = ANY($1::text[]) AND done AND kind = 'new_account'
 UNION ALL
SELECT account_id, kind
  FROM transfer
 WHERE account_id = ANY($1::text[]) AND done AND kind = 'top_up' AND day = (now() AT TIME ZONE 'UTC')::date;

-- lock_accounts --
-- Always in the same order, so that two batches could never wait for each other.
SELECT number, account, balance_coins, staked_coins
  FROM account
 WHERE account = ANY($1::text[])
 ORDER BY account
   FOR UPDATE;

-- append --
-- All that a batch decided, in one statement: the triggers check it as a whole and move the balances.
-- The writer's row is the fence: a process that was declared dead stores nothing and gets 0.
-- The entries' columns come as the text of arrays: there are ten of them a transfer, and the driver takes longer to
-- look at each number than the server takes to read it.
WITH alive AS MATERIALIZED (
    SELECT 1 FROM wallet_writer WHERE writer_id = $1 FOR KEY SHARE
), opened AS (
    INSERT INTO account (number, account)
    SELECT * FROM unnest($2::bigint[], $3::text[])
     WHERE EXISTS (SELECT 1 FROM alive)
), transferred AS (
    INSERT INTO transfer (number, key, kind, done, request_hash, request, answer, table_id, unit, closes, purpose,
                          account_id, amount_coins, entry_count, generation)
    SELECT asked.number, asked.key, asked.kind::transfer_kind, asked.done, asked.request_hash, asked.request,
           asked.answer, asked.table_id, asked.unit, asked.closes, asked.purpose::transfer_purpose, asked.account_id,
           asked.amount_coins, asked.entry_count, $18::int
      FROM unnest($4::bigint[], $5::text[], $6::text[], $7::boolean[], $8::bytea[], $9::json[], $10::json[],
                  $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[], $17::smallint[])
           AS asked (number, key, kind, done, request_hash, request, answer, table_id, unit, closes, purpose,
                     account_id, amount_coins, entry_count)
     WHERE EXISTS (SELECT 1 FROM alive)
), entered AS (
    INSERT INTO entry (transfer_number, line, account_number, coins, reason, unit)
    SELECT posting.transfer_number, posting.line, posting.account_number, posting.coins, posting.reason, asked.unit
      FROM unnest($19::text::bigint[], $20::text::smallint[], $21::text::bigint[], $22::text::bigint[],
                  $23::text::entry_reason[])
           AS posting (transfer_number, line, account_number, coins, reason)
      JOIN unnest($4::bigint[], $12::text[]) AS asked (number, unit) ON asked.number = posting.transfer_number
     WHERE EXISTS (SELECT 1 FROM alive)
)
SELECT count(*) FROM alive;

-- last_numbers --
-- What the writer counts on from.
SELECT (SELECT greatest(max(number), 0) FROM account) AS player,
       (SELECT least(min(number), 0) FROM account) AS other,
       (SELECT coalesce(max(number), 0) FROM transfer) AS transfer;

-- expire_writer --
-- Waits for the append that is under way; after it the dead process stores nothing.
DELETE FROM wallet_writer WHERE expires_at < clock_timestamp();

-- claim_writer --
INSERT INTO wallet_writer (writer_id, expires_at)
VALUES ($1, clock_timestamp() + $2::interval)
    ON CONFLICT (singleton) DO NOTHING
RETURNING writer_id;

-- renew_writer --
-- No key is changed: this never waits for an append.
UPDATE wallet_writer SET expires_at = clock_timestamp() + $2::interval WHERE writer_id = $1 RETURNING writer_id;

-- await_own_append --
-- After a connection was lost: waits until the append whose outcome is unknown has ended.
SELECT writer_id FROM wallet_writer WHERE writer_id = $1 FOR UPDATE;

-- release_writer --
DELETE FROM wallet_writer WHERE writer_id = $1;

-- living_writer --
SELECT writer_id FROM wallet_writer WHERE expires_at > clock_timestamp();

-- funds --
SELECT balance_coins, staked_coins FROM account WHERE account = $1;

-- entries --
-- A page of an account's lines, newest first. A line's number is its transfer's with three digits for the line.
SELECT entry.transfer_number * 1000 + entry.line AS number, entry.coins, entry.reason::text AS reason,
       transfer.purpose::text AS purpose, entry.unit, transfer.table_id, transfer.at
  FROM entry
  JOIN transfer ON transfer.number = entry.transfer_number
 WHERE entry.account_number = (SELECT number FROM account WHERE account = $1) AND entry.account_number > 0
   AND (entry.transfer_number, entry.line) < ($2::bigint / 1000, $2::bigint % 1000)
 ORDER BY entry.transfer_number DESC, entry.line DESC
 LIMIT $3;

-- audit --
-- Whether the coins add up, in one snapshot. Reads the whole ledger.
WITH posted AS (
    SELECT account_number, sum(coins) AS coins FROM entry GROUP BY account_number
), open_stake AS (
    SELECT stake.number
      FROM transfer AS stake
     WHERE stake.kind = 'stake' AND stake.done
       AND NOT EXISTS (SELECT 1 FROM transfer AS closer WHERE closer.closes = stake.key)
), lying AS (
    SELECT entry.account_number, entry.reason, sum(entry.coins) AS coins
      FROM entry
      JOIN open_stake ON open_stake.number = entry.transfer_number
     GROUP BY entry.account_number, entry.reason
)
SELECT (SELECT count(*) FROM entry) AS entries,
       (SELECT coalesce(sum(coins), 0)::bigint FROM entry) AS sum_coins,
       NOT EXISTS (
           SELECT 1 FROM account LEFT JOIN posted ON posted.account_number = account.number
            WHERE account.balance_coins <> coalesce(posted.coins, 0)
       ) AS balances_match,
       (SELECT count(*) FROM account WHERE account LIKE 'player:%' AND balance_coins < 0) AS players_below_zero,
       (SELECT count(*) FROM (
           SELECT 1 FROM entry GROUP BY transfer_number HAVING sum(coins) <> 0
       ) AS unbalanced) AS transfers_unbalanced,
       (SELECT coalesce(max(number), 0) - count(*) FROM transfer) AS transfers_missing,
       (SELECT count(*) FROM open_stake) AS stakes_open,
       (SELECT coalesce(sum(balance_coins), 0)::bigint FROM account WHERE account LIKE 'pot:%') AS pots_coins,
       (SELECT coalesce(sum(balance_coins), 0)::bigint FROM account WHERE account LIKE 'reserve:%') AS reserves_coins,
       NOT EXISTS (
           SELECT 1 FROM account LEFT JOIN lying ON lying.account_number = account.number
            WHERE (account.account LIKE 'pot:%' OR account.account LIKE 'reserve:%')
              AND account.balance_coins <> coalesce(lying.coins, 0)
       ) AS pots_match,
       NOT EXISTS (
           SELECT 1 FROM account LEFT JOIN lying ON lying.account_number = account.number AND lying.reason = 'bet'
            WHERE (account.account LIKE 'player:%' OR account.account = 'house:bots')
              AND account.staked_coins <> -coalesce(lying.coins, 0)
       ) AS stakes_match;
