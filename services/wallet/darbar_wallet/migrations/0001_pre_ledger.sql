-- The ledger: accounts, transfers, entries. A rule about money is a constraint here first and Python second.
-- Accounts are named `player:<account>`, `pot:<table>`, `reserve:<table>`, `house:<which>`.
-- The house's bank issues all coins and its bots' account pays for bots: these two may be below zero, nobody else.

-- A domain is checked when a name comes in, not at each change of a balance.
CREATE DOMAIN account_name AS text COLLATE "C" CHECK (
    VALUE IN ('house:bank', 'house:bots', 'house:forfeit', 'house:rounding')
    OR VALUE ~ '^(player|pot|reserve):[A-Za-z0-9:._-]{1,128}$'
);

-- Types instead of lists in CHECKs: PostgreSQL reads a CHECK anew for every statement, and that is time in each batch.
CREATE TYPE transfer_kind AS ENUM ('stake', 'settle', 'refund', 'new_account', 'top_up');
CREATE TYPE entry_reason AS ENUM (
    'bet', 'reserve', 'pays_again', 'share', 'forfeit', 'rounding', 'bet_back', 'reserve_back', 'new_account', 'top_up'
);

CREATE TABLE account (
    -- Given by the one writer: above zero for players, below it for pots, reserves and the house. Entries name accounts
    -- by it: they are for ever, and half as large so.
    number bigint PRIMARY KEY,
    account account_name NOT NULL UNIQUE,
    balance_coins bigint NOT NULL DEFAULT 0,
    -- The account's bets in pots that are not shared out yet. As much again is reserved for it.
    staked_coins bigint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT balance_not_below_zero CHECK (balance_coins >= 0 OR number IN (-1, -2)),
    CONSTRAINT staked_not_below_zero CHECK (staked_coins >= 0),
    CONSTRAINT players_are_above_zero CHECK (number <> 0 AND (number > 0) = (account LIKE 'player:%'))
) WITH (fillfactor = 70);

-- One row for every request that was ever answered, refusals too. `key` is permanent.
CREATE TABLE transfer (
    -- Given by the one writer, without gaps: a transfer that vanished would be missed.
    number bigint PRIMARY KEY CHECK (number > 0),
    key text COLLATE "C" NOT NULL UNIQUE CHECK (length(key) BETWEEN 1 AND 128),
    kind transfer_kind NOT NULL,
    done boolean NOT NULL,
    request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
    request json NOT NULL,
    answer json NOT NULL,
    table_id text COLLATE "C",
    unit text,
    -- The stake that this one ended.
    closes text COLLATE "C",
    -- The account that was granted something.
    account_id text COLLATE "C",
    -- What moved in all: the sum of the lines above zero.
    amount_coins bigint NOT NULL CHECK (amount_coins >= 0),
    entry_count smallint NOT NULL CHECK (entry_count >= 0),
    generation int NOT NULL,
    day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT refusals_move_nothing CHECK (done OR (entry_count = 0 AND closes IS NULL)),
    CONSTRAINT amount_has_entries CHECK ((amount_coins = 0) = (entry_count = 0)),
    CONSTRAINT done_moves_coins CHECK (NOT done OR kind = 'refund' OR amount_coins > 0),
    CONSTRAINT closes_a_stake CHECK (closes IS NULL OR kind IN ('settle', 'refund')),
    CONSTRAINT settle_closes CHECK (NOT done OR kind <> 'settle' OR closes IS NOT NULL),
    CONSTRAINT grant_names_account CHECK ((account_id IS NOT NULL) = (kind IN ('new_account', 'top_up'))),
    CONSTRAINT table_is_named CHECK ((table_id IS NOT NULL AND unit IS NOT NULL) = (account_id IS NULL))
);
CREATE UNIQUE INDEX transfer_closes_once ON transfer (closes) WHERE closes IS NOT NULL;
CREATE UNIQUE INDEX transfer_new_account_once ON transfer (account_id) WHERE done AND kind = 'new_account';
CREATE UNIQUE INDEX transfer_top_up_once_a_day ON transfer (account_id, day) WHERE done AND kind = 'top_up';

CREATE TABLE entry (
    transfer_number bigint NOT NULL,
    line smallint NOT NULL CHECK (line BETWEEN 1 AND 999),
    account_number bigint NOT NULL,
    coins bigint NOT NULL CONSTRAINT entry_moves_coins CHECK (coins <> 0),
    reason entry_reason NOT NULL,
    unit text,
    PRIMARY KEY (transfer_number, line)
);
-- What players look up. The lines of pots and of the house are found by their transfers.
CREATE INDEX entry_of_player ON entry (account_number, transfer_number, line) WHERE account_number > 0;

-- Once a statement, over all its rows. Foreign keys would be two look-ups a row; these checks say the same and more:
-- an entry belongs to a transfer, a transfer's lines are all there, are those it speaks of, and sum to zero.
-- Balances and stakes are moved here and nowhere else: no role can write a balance that its entries do not explain.
-- Batches are small and tables large: index look-ups are right, whatever the planner's statistics were at first.
CREATE FUNCTION post_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    wrong bigint;
    moved_count bigint;
    posted_count bigint;
BEGIN
    SELECT lines.transfer_number INTO wrong
      FROM (
            SELECT added.transfer_number,
                   sum(added.coins) AS total_coins,
                   sum(added.coins) FILTER (WHERE added.coins > 0) AS amount_coins,
                   count(*) AS line_count,
                   max(added.line) AS line_last
              FROM added
             GROUP BY added.transfer_number
           ) AS lines
      LEFT JOIN public.transfer ON transfer.number = lines.transfer_number
     WHERE transfer.number IS NULL
        OR lines.total_coins <> 0
        OR lines.amount_coins IS DISTINCT FROM transfer.amount_coins
        OR lines.line_count <> transfer.entry_count
        OR lines.line_last <> transfer.entry_count
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the entries of transfer % are not those of a transfer, or do not sum to zero', wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'entries_sum_to_zero';
    END IF;
    WITH change AS (
        SELECT added.account_number, added.coins,
               CASE WHEN added.reason = 'bet' AND added.coins < 0 THEN -added.coins ELSE 0 END AS staked_coins
          FROM added
         UNION ALL
        -- A transfer that closes a stake takes back what the stake's bets had added.
        SELECT bet.account_number, 0, bet.coins
          FROM added
          JOIN public.transfer AS closer ON closer.number = added.transfer_number
          JOIN public.transfer AS stake ON stake.key = closer.closes
          JOIN public.entry AS bet ON bet.transfer_number = stake.number
         WHERE added.line = 1 AND bet.reason = 'bet' AND bet.coins < 0
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
    )
    SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM posted) INTO moved_count, posted_count;
    IF moved_count <> posted_count THEN
        RAISE EXCEPTION 'an entry names an account that does not exist'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'entry_has_account';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER post_entries AFTER INSERT ON entry
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION post_entries();

-- Transfers and their entries come in one statement: a transfer without its lines is never stored.
CREATE FUNCTION refuse_transfers_without_entries() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    wrong text;
BEGIN
    SELECT added.key INTO wrong
      FROM added
     WHERE added.entry_count > 0
       AND NOT EXISTS (SELECT 1 FROM public.entry WHERE entry.transfer_number = added.number AND entry.line = 1)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'transfer % came without its entries', wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'transfer_has_entries';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER refuse_transfers_without_entries AFTER INSERT ON transfer
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_transfers_without_entries();

-- The one process that writes. That the row exists is the fence: every append takes it FOR KEY SHARE.
CREATE TABLE wallet_writer (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    writer_id uuid NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);

INSERT INTO account (number, account)
VALUES (-1, 'house:bank'), (-2, 'house:bots'), (-3, 'house:forfeit'), (-4, 'house:rounding');

-- For people who look at the ledger.
CREATE VIEW ledger AS
SELECT transfer.number, transfer.at, transfer.kind, transfer.table_id, entry.unit, entry.line, account.account,
       entry.coins, entry.reason, transfer.key
  FROM entry
  JOIN transfer ON transfer.number = entry.transfer_number
  JOIN account ON account.number = entry.account_number;

-- The service may add to the ledger and read it; it changes nothing that is written, and balances only by entries.
-- It may update the day on which an account was opened for one reason: locking a row needs the right to update it.
GRANT SELECT ON account, transfer, entry, ledger, wallet_writer TO :service_role;
GRANT INSERT (number, account), UPDATE (opened_at) ON account TO :service_role;
GRANT INSERT (number, key, kind, done, request_hash, request, answer, table_id, unit, closes, account_id, amount_coins,
              entry_count, generation) ON transfer TO :service_role;
GRANT INSERT ON entry TO :service_role;
GRANT INSERT, DELETE, UPDATE (expires_at) ON wallet_writer TO :service_role;
