-- An adjustment names its account, as a grant does, and its lines say what they are. All else is as it was.
ALTER TABLE transfer
    DROP CONSTRAINT grant_names_account,
    ADD CONSTRAINT grant_names_account CHECK (
        (account_id IS NOT NULL) = (kind IN ('new_account', 'top_up', 'adjustment'))
    );

CREATE OR REPLACE FUNCTION post_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    wrong bigint;
    fits boolean;
    uneven bigint;
    moved_count bigint;
    posted_count bigint;
BEGIN
    SELECT lines.transfer_number, judged.fits INTO wrong, fits
      FROM (
            SELECT added.transfer_number,
                   sum(added.coins) AS total_coins,
                   sum(added.coins) FILTER (WHERE added.coins > 0) AS amount_coins,
                   count(*) AS line_count,
                   max(added.line) AS line_last,
                   bool_and(added.reason IN ('bet', 'reserve')) AS stake,
                   bool_and(added.reason IN (
                       'share', 'pays_again', 'bet_back', 'reserve_back', 'forfeit', 'rounding'
                   )) AS shared_out,
                   bool_and(added.reason IN ('bet_back', 'reserve_back', 'forfeit')) AS without_winners,
                   bool_and(added.reason IN ('bet_back', 'reserve_back')) AS refund,
                   bool_and(added.reason = 'new_account') AS new_account,
                   bool_and(added.reason = 'top_up') AS top_up,
                   bool_and(added.reason = 'adjustment') AS adjustment
              FROM added
             GROUP BY added.transfer_number
           ) AS lines
      LEFT JOIN public.transfer ON transfer.number = lines.transfer_number
     CROSS JOIN LATERAL (
            SELECT CASE transfer.kind
                       WHEN 'stake' THEN lines.stake
                       WHEN 'settle' THEN CASE WHEN transfer.purpose IN ('table_closed', 'ended_early')
                                               THEN lines.without_winners ELSE lines.shared_out END
                       WHEN 'refund' THEN lines.refund
                       WHEN 'new_account' THEN lines.new_account
                       WHEN 'top_up' THEN lines.top_up
                       WHEN 'adjustment' THEN lines.adjustment
                   END AS fits
           ) AS judged
     WHERE judged.fits IS NOT TRUE
        OR lines.total_coins <> 0
        OR lines.amount_coins IS DISTINCT FROM transfer.amount_coins
        OR lines.line_count <> transfer.entry_count
        OR lines.line_last <> transfer.entry_count
     LIMIT 1;
    IF fits IS FALSE THEN
        RAISE EXCEPTION 'transfer % has an entry that its kind and purpose do not explain', wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'entry_fits_transfer';
    ELSIF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the entries of transfer % are not those of a transfer, or do not sum to zero', wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'entries_sum_to_zero';
    END IF;
    WITH staked AS MATERIALIZED (
        -- The lines of the stakes that end here.
        SELECT closer.number, entry.account_number, entry.coins, entry.reason
          FROM added
          JOIN public.transfer AS closer ON closer.number = added.transfer_number
          JOIN public.transfer AS stake ON stake.key = closer.closes
          JOIN public.entry ON entry.transfer_number = stake.number
         WHERE added.line = 1
    ), change AS (
        SELECT added.account_number, added.coins,
               CASE WHEN added.reason = 'bet' AND added.coins < 0 THEN -added.coins ELSE 0 END AS staked_coins
          FROM added
         UNION ALL
        -- A transfer that closes a stake takes back what the stake's bets had added.
        SELECT staked.account_number, 0, staked.coins
          FROM staked
         WHERE staked.reason = 'bet' AND staked.coins < 0
    ), moved AS (
        SELECT change.account_number, sum(change.coins)::bigint AS coins, sum(change.staked_coins)::bigint AS staked_coins
          FROM change
         GROUP BY change.account_number
    ), posted AS (
        UPDATE public.account
           SET balance_coins = account.balance_coins + moved.coins,
               staked_coins = account.staked_coins + moved.staked_coins
          FROM moved
         WHERE account.number = moved.account_number
        RETURNING 1
    ), line AS (
        SELECT staked.number, staked.account_number, staked.coins, staked.reason, true AS of_ended_stake FROM staked
         UNION ALL
        SELECT added.transfer_number, added.account_number, added.coins, added.reason, false FROM added
    ), not_even AS (
        SELECT line.number
          FROM line
         GROUP BY line.number, line.account_number
        -- Below the house's four are pots and reserves; a stake that lies there and has not ended is no fault.
        HAVING CASE WHEN line.account_number < -4
                    THEN sum(line.coins) <> 0
                     AND bool_or(line.of_ended_stake OR line.reason NOT IN ('bet', 'reserve'))
                    ELSE sum(line.coins) FILTER (WHERE line.reason IN ('bet', 'bet_back')) > 0
                      OR sum(line.coins) FILTER (WHERE line.reason IN ('reserve', 'reserve_back')) > 0 END
         LIMIT 1
    )
    SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM posted), (SELECT number FROM not_even)
      INTO moved_count, posted_count, uneven;
    IF moved_count <> posted_count THEN
        RAISE EXCEPTION 'an entry names an account that does not exist'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'entry_has_account';
    ELSIF uneven IS NOT NULL THEN
        RAISE EXCEPTION 'transfer % does not end its stake with what the stake put in', uneven
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ending_empties_the_stake';
    END IF;
    RETURN NULL;
END
$$;
