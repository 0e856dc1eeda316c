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
VALUES ($1, clock_timestamp() + make_interval(secs => $2))
    ON CONFLICT (singleton) DO NOTHING
RETURNING writer_id;

-- renew_writer --
-- No key is changed: this never waits for an append.
UPDATE wallet_writer SET expires_at = clock_timestamp() + make_interval(secs => $2)
 WHERE writer_id = $1
RETURNING writer_id;

-- await_own_append --
-- After a connection was lost: waits until the append whose outcome is unknown has ended.
SELECT writer_id FROM wallet_writer WHERE writer_id = $1 FOR UPDATE;

-- release_writer --
DELETE FROM wallet_writer WHERE writer_id = $1 RETURNING writer_id;

-- living_writer --
SELECT writer_id FROM wallet_writer WHERE expires_at > clock_timestamp();

-- wallet --
-- An account with a page of its lines, newest first; one row without a line when it has none there. A line's number is
-- its transfer's with three digits for the line. $4: only lines for this reason.
SELECT account.balance_coins, account.staked_coins, page.*
  FROM account
  LEFT JOIN LATERAL (
        SELECT entry.transfer_number * 1000 + entry.line AS number, entry.coins, entry.reason::text AS reason,
               entry.unit, transfer.table_id, transfer.at, transfer.purpose::text AS purpose
          FROM entry
          JOIN transfer ON transfer.number = entry.transfer_number
         WHERE entry.account_number = account.number AND entry.account_number > 0
           AND (entry.transfer_number, entry.line) < ($2::bigint / 1000, $2::bigint % 1000)
           AND ($4::entry_reason IS NULL OR entry.reason = $4)
         ORDER BY entry.transfer_number DESC, entry.line DESC
         LIMIT $3
       ) AS page ON true
 WHERE account.account = $1
 ORDER BY page.number DESC;

-- audit_head --
-- The newest transfer. Numbers come without gaps and in the order of the commits: all below it are there.
SELECT coalesce(max(number), 0) AS number FROM transfer;

-- audit_transfers --
-- The transfers after number $1 and up to $2, with their entries: nothing in there changes any more, but for the stakes
-- that have not ended. `house_coins`: what came to bank, bots, forfeit, rounding.
WITH slice AS MATERIALIZED (
    SELECT number, key, kind, done, entry_count FROM transfer WHERE number > $1 AND number <= $2
), line AS MATERIALIZED (
    SELECT transfer_number, account_number, coins FROM entry WHERE transfer_number > $1 AND transfer_number <= $2
), summed AS (
    SELECT transfer_number, count(*) AS lines, sum(coins) AS coins FROM line GROUP BY transfer_number
)
SELECT (SELECT count(*) FROM slice) AS transfers,
       (SELECT count(*) FROM line) AS entries,
       (SELECT coalesce(sum(coins), 0)::bigint FROM line) AS sum_coins,
       (SELECT count(*) FROM slice FULL JOIN summed ON summed.transfer_number = slice.number
         WHERE coalesce(summed.coins, 0) <> 0
            OR slice.entry_count IS DISTINCT FROM coalesce(summed.lines, 0)) AS transfers_unbalanced,
       (SELECT ARRAY[
            coalesce(sum(coins) FILTER (WHERE account_number = -1), 0)::bigint,
            coalesce(sum(coins) FILTER (WHERE account_number = -2), 0)::bigint,
            coalesce(sum(coins) FILTER (WHERE account_number = -3), 0)::bigint,
            coalesce(sum(coins) FILTER (WHERE account_number = -4), 0)::bigint
        ] FROM line) AS house_coins,
       ARRAY(
           SELECT number FROM slice
            WHERE kind = 'stake' AND done AND NOT EXISTS (SELECT FROM transfer AS closer WHERE closer.closes = slice.key)
       ) AS stakes_open;

-- stakes_moved --
-- The transfers of tables after number $1 and up to $2.
SELECT table_id, kind || ' ' || key AS what FROM transfer
 WHERE number > $1 AND number <= $2 AND done AND kind IN ('stake', 'settle', 'refund');

-- keys_moved --
-- Which of these were carried out.
SELECT kind || ' ' || key AS what FROM transfer WHERE key = ANY($1::text[]) AND done;

-- audit_players --
-- The $5 entries of players after account $1's line $3 of transfer $2, of whom $4 coins were summed before. Accounts
-- whose lines are all in are compared with their balance.
WITH line AS MATERIALIZED (
    SELECT account_number, transfer_number, line, coins
      FROM entry
     WHERE account_number > 0 AND (account_number, transfer_number, line) > ($1, $2, $3)
     ORDER BY account_number, transfer_number, line
     LIMIT $5
), last AS MATERIALIZED (
    SELECT * FROM line ORDER BY account_number DESC, transfer_number DESC, line DESC LIMIT 1
), summed AS MATERIALIZED (
    SELECT account_number, sum(coins) + CASE WHEN account_number = $1 THEN $4 ELSE 0 END AS coins
      FROM line
     GROUP BY account_number
), span AS MATERIALIZED (
    SELECT count(*) < $5 AS is_last, coalesce(max(account_number), $1) AS account_number FROM line
), compared AS MATERIALIZED (
    SELECT account.number, account.balance_coins, account.staked_coins,
           coalesce(summed.coins, CASE WHEN account.number = $1 THEN $4 ELSE 0 END) AS coins
      FROM span
      JOIN account ON account.number >= greatest($1, 1) AND (span.is_last OR account.number < span.account_number)
      LEFT JOIN summed ON summed.account_number = account.number
)
SELECT span.is_last, span.account_number, coalesce(last.transfer_number, 0) AS transfer_number,
       coalesce(last.line, 0) AS line,
       coalesce((SELECT coins FROM summed WHERE account_number = span.account_number), 0)::bigint AS coins,
       (SELECT count(*) FROM compared WHERE balance_coins <> coins)
           + (SELECT count(*) FROM summed
               WHERE NOT EXISTS (SELECT FROM account WHERE number = account_number)) AS balances_wrong,
       (SELECT count(*) FROM compared WHERE balance_coins < 0) AS below_zero,
       ARRAY(SELECT number FROM compared WHERE staked_coins <> 0) AS with_stakes
  FROM span LEFT JOIN last ON true;

-- audit_pots --
-- The $2 pots and reserves below number $1, and which of them are not empty.
WITH slice AS MATERIALIZED (
    SELECT number, balance_coins FROM account WHERE number < $1 ORDER BY number DESC LIMIT $2
)
SELECT count(*) < $2 AS is_last, coalesce(min(number), $1) AS number,
       coalesce(array_agg(number) FILTER (WHERE balance_coins <> 0), '{}') AS with_coins
  FROM slice;

-- audit_end --
-- In one snapshot: the house against what its lines sum to ($2, up to transfer $1, and what came since), the accounts
-- $4 and those of all open stakes against what these stakes put there. $3: the stakes that were open before.
WITH open AS MATERIALIZED (
    SELECT stake.number
      FROM transfer AS stake
     WHERE (stake.number = ANY($3::bigint[]) OR stake.number > $1) AND stake.kind = 'stake' AND stake.done
       AND NOT EXISTS (SELECT FROM transfer AS closer WHERE closer.closes = stake.key)
), lying AS MATERIALIZED (
    SELECT entry.account_number, sum(entry.coins) AS coins,
           -sum(entry.coins) FILTER (WHERE entry.reason = 'bet' AND entry.coins < 0) AS bets_coins
      FROM open
      JOIN entry ON entry.transfer_number = open.number
     GROUP BY entry.account_number
), looked AS MATERIALIZED (
    SELECT account.number, account.account, account.balance_coins, account.staked_coins,
           coalesce(lying.coins, 0) AS coins, coalesce(lying.bets_coins, 0) AS bets_coins
      FROM account
      LEFT JOIN lying ON lying.account_number = account.number
     WHERE account.number IN (SELECT account_number FROM lying UNION SELECT unnest($4::bigint[]))
        OR account.number BETWEEN -4 AND -1
)
SELECT NOT EXISTS (
           SELECT 1 FROM looked
            WHERE number BETWEEN -4 AND -1
              AND balance_coins <> ($2::bigint[])[-number] + coalesce(
                  (SELECT sum(coins) FROM entry WHERE transfer_number > $1 AND account_number = number), 0)
       ) AS house_matches,
       (SELECT count(*) FROM open) AS stakes_open,
       coalesce(sum(balance_coins) FILTER (WHERE account LIKE 'pot:%'), 0)::bigint AS pots_coins,
       coalesce(sum(balance_coins) FILTER (WHERE account LIKE 'reserve:%'), 0)::bigint AS reserves_coins,
       coalesce(bool_and(balance_coins = coins) FILTER (WHERE number < -4), true) AS pots_match,
       coalesce(bool_and(staked_coins = bets_coins) FILTER (WHERE number >= -4), true) AS stakes_match
  FROM looked;
