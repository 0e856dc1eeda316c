-- The ledger: accounts, transfers, entries. A rule about money is a constraint here first and Python second.
-- Accounts are named `player:<account>`, `pot:<table>`, `reserve:<table>`, `house:<which>`.
-- The house's bank issues all coins and its bots' account pays for bots: these two may be below zero, nobody else.

CREATE TABLE account (
    account text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL GENERATED ALWAYS AS (
        CASE split_part(account, ':', 1) WHEN 'house' THEN split_part(account, ':', 2) ELSE split_part(account, ':', 1) END
    ) STORED,
    balance_coins bigint NOT NULL DEFAULT 0,
    -- What a player has lying at tables; kept here, so that nobody has to search old stakes for it.
    reserved_coins bigint NOT NULL DEFAULT 0,
    in_pots_coins bigint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT account_name CHECK (
        account IN ('house:bank', 'house:bots', 'house:forfeit', 'house:rounding')
        OR account ~ '^(player|pot|reserve):[A-Za-z0-9:._-]{1,128}$'
    ),
    CONSTRAINT balance_not_below_zero CHECK (balance_coins >= 0 OR account IN ('house:bank', 'house:bots')),
    CONSTRAINT holds_not_below_zero CHECK (reserved_coins >= 0 AND in_pots_coins >= 0),
    CONSTRAINT holds_are_of_players CHECK (kind = 'player' OR (reserved_coins = 0 AND in_pots_coins = 0))
) WITH (fillfactor = 70);

-- One row for every request that was ever answered, refusals too. `key` is permanent.
CREATE TABLE transfer (
    key text COLLATE "C" PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 128),
    kind text NOT NULL CHECK (kind IN ('stake', 'settle', 'refund', 'new_account', 'top_up')),
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
    transfer_key text COLLATE "C" NOT NULL,
    line smallint NOT NULL CHECK (line >= 1),
    -- Grows, with gaps: the order in which an account's lines are read.
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account text COLLATE "C" NOT NULL,
    coins bigint NOT NULL CONSTRAINT entry_moves_coins CHECK (coins <> 0),
    reason text NOT NULL CHECK (
        reason IN ('bet', 'reserve', 'pays_again', 'share', 'forfeit', 'rounding', 'bet_back', 'reserve_back',
                   'new_account', 'top_up')
    ),
    unit text,
    PRIMARY KEY (transfer_key, line)
);
CREATE INDEX entry_of_account ON entry (account, number);

-- Once a statement, over all its rows. Foreign keys would be two look-ups a row; these checks say the same and more:
-- an entry belongs to a transfer, a transfer's lines are all there, are those it speaks of, and sum to zero.
-- The balance is moved here and nowhere else: no role can write a balance that its entries do not explain.
-- Batches are small and tables large: index look-ups are right, whatever the planner's statistics were at first.
CREATE FUNCTION post_entries() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_seqscan = off
AS $$
DECLARE
    wrong text;
    moved_count bigint;
    posted_count bigint;
BEGIN
    SELECT lines.transfer_key INTO wrong
      FROM (
            SELECT added.transfer_key,
                   sum(added.coins) AS total_coins,
                   sum(added.coins) FILTER (WHERE added.coins > 0) AS amount_coins,
                   count(*) AS line_count,
                   max(added.line) AS line_last
              FROM added
             GROUP BY added.transfer_key
           ) AS lines
      LEFT JOIN public.transfer ON transfer.key = lines.transfer_key
     WHERE transfer.key IS NULL
        OR lines.total_coins <> 0
        OR lines.amount_coins IS DISTINCT FROM transfer.amount_coins
        OR lines.line_count <> transfer.entry_count
        OR lines.line_last <> transfer.entry_count
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the entries of transfer % are not those of a transfer, or do not sum to zero', wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'entries_sum_to_zero';
    END IF;
    WITH moved AS (
        SELECT added.account, sum(added.coins)::bigint AS coins FROM added GROUP BY added.account
    ), posted AS (
        UPDATE public.account
           SET balance_coins = account.balance_coins + moved.coins
          FROM moved
         WHERE account.account = moved.account
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
       AND NOT EXISTS (SELECT 1 FROM public.entry WHERE entry.transfer_key = added.key AND entry.line = 1)
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

INSERT INTO account (account) VALUES ('house:bank'), ('house:bots'), ('house:forfeit'), ('house:rounding');

-- The service may add to the ledger and read it; it changes nothing that is written, and balances only by entries.
GRANT SELECT ON account, transfer, entry, wallet_writer TO :service_role;
GRANT INSERT (account, reserved_coins, in_pots_coins), UPDATE (reserved_coins, in_pots_coins) ON account TO :service_role;
GRANT INSERT (key, kind, done, request_hash, request, answer, table_id, unit, closes, account_id, amount_coins,
              entry_count, generation) ON transfer TO :service_role;
GRANT INSERT (transfer_key, line, account, coins, reason, unit) ON entry TO :service_role;
GRANT INSERT, DELETE, UPDATE (expires_at) ON wallet_writer TO :service_role;
