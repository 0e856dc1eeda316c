-- What players have played, made of the milestones of tables, and made again from them by `darbar rebuild statistics`.

-- By this an account is shown to strangers: who knows it does not know the account's id.
ALTER TABLE account ADD COLUMN handle text NOT NULL
    GENERATED ALWAYS AS (left(encode(sha256(decode(account_id, 'hex')), 'hex'), 20)) STORED;
CREATE UNIQUE INDEX account_handle ON account (handle);

-- The game of a table that counts and has not ended, with what each account has won in it.
CREATE TABLE game_under_way (
    table_id    uuid PRIMARY KEY REFERENCES directory ON DELETE CASCADE,
    game_number int NOT NULL CHECK (game_number > 0),
    account_ids text[] NOT NULL,
    points      int[] NOT NULL,
    CHECK (cardinality(account_ids) = cardinality(points))
);

-- number: the milestone that says so. A game that was quit has no place and no points.
CREATE TABLE game_outcome (
    table_id    uuid NOT NULL REFERENCES directory ON DELETE CASCADE,
    number      int NOT NULL CHECK (number > 0),
    account_id  text NOT NULL,
    game        text NOT NULL,
    game_number int NOT NULL CHECK (game_number > 0),
    kind        text NOT NULL CHECK (kind IN ('played', 'quit')),
    place       int CHECK (place > 0),
    points      int NOT NULL,
    at          timestamptz NOT NULL,
    week        date NOT NULL GENERATED ALWAYS AS (date_trunc('week', at AT TIME ZONE 'UTC')::date) STORED,
    PRIMARY KEY (table_id, number, account_id),
    CHECK ((kind = 'played') = (place IS NOT NULL)),
    CHECK (kind = 'played' OR points = 0)
);
CREATE INDEX game_outcome_of_account ON game_outcome (account_id, at, table_id, number);
CREATE INDEX game_outcome_of_week ON game_outcome (account_id, game, week);

-- The outcomes of an account, a game and an ISO week (UTC; week is its Monday), counted.
CREATE TABLE week_statistics (
    account_id text NOT NULL,
    game       text NOT NULL,
    week       date NOT NULL,
    played     bigint NOT NULL,
    won        bigint NOT NULL,
    quits      bigint NOT NULL,
    points     bigint NOT NULL,
    PRIMARY KEY (account_id, game, week),
    CHECK (played >= won AND won >= 0 AND quits >= 0 AND played + quits > 0)
);
CREATE INDEX week_statistics_ranked ON week_statistics (game, week, won DESC, points DESC, account_id) WHERE played > 0;

GRANT SELECT, INSERT, UPDATE, DELETE ON game_under_way, game_outcome, week_statistics TO :service_role;
