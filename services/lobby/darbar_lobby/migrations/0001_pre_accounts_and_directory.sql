-- Accounts, their sessions and the coins they are still owed; the directory of tables with its codes.

CREATE TABLE account (
    account_id    text PRIMARY KEY CHECK (account_id ~ '^[0-9a-f]{32}$'),
    name          text NOT NULL,
    avatar        text NOT NULL,
    role          text NOT NULL DEFAULT 'player' CHECK (role IN ('player', 'admin', 'auditor')),
    name_login    text UNIQUE,
    password_hash text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CHECK ((name_login IS NULL) = (password_hash IS NULL))
);

-- A family is one sign-in: every refresh token that came from it, one after the other.
CREATE TABLE token_family (
    family_id  uuid PRIMARY KEY,
    account_id text NOT NULL REFERENCES account,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE INDEX token_family_account ON token_family (account_id);

CREATE TABLE refresh_token (
    token_sha256 bytea PRIMARY KEY CHECK (octet_length(token_sha256) = 32),
    family_id    uuid NOT NULL REFERENCES token_family ON DELETE CASCADE,
    expires_at   timestamptz NOT NULL,
    used_at      timestamptz
);
CREATE INDEX refresh_token_family ON refresh_token (family_id);
CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);

-- Coins for a new account that the wallet has not confirmed yet. A refused one stays, to be looked at.
CREATE TABLE grant_due (
    account_id     text PRIMARY KEY REFERENCES account,
    grant_key      text NOT NULL,
    attempts       int NOT NULL DEFAULT 0,
    next_at        timestamptz NOT NULL DEFAULT now(),
    refused_reason text
);
CREATE INDEX grant_due_next ON grant_due (next_at) WHERE refused_reason IS NULL;

-- state: asked (the intent is stored, the table service has not answered), open, closed.
-- number: the last milestone that was applied. sequence: the order of creation, for pages of the list.
CREATE TABLE directory (
    table_id     uuid PRIMARY KEY,
    sequence     bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    state        text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'open', 'closed')),
    host_id      text NOT NULL,
    game         text NOT NULL,
    options      json NOT NULL,
    seats        int NOT NULL CHECK (seats > 0),
    bet_coins    int NOT NULL CHECK (bet_coins > 0),
    turn_seconds int NOT NULL CHECK (turn_seconds > 0),
    visibility   text NOT NULL CHECK (visibility IN ('public', 'private')),
    bot_level    text NOT NULL,
    invite_token text NOT NULL UNIQUE,
    generation   int NOT NULL DEFAULT 0,
    number       int NOT NULL DEFAULT 0 CHECK (number >= 0),
    free_seats   int NOT NULL CHECK (free_seats >= 0),
    playing      boolean NOT NULL DEFAULT false,
    round        int NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT now(),
    closed_at    timestamptz
);
CREATE INDEX directory_listed ON directory (game, bet_coins, sequence DESC)
    WHERE state = 'open' AND visibility = 'public' AND free_seats > 0;
CREATE INDEX directory_listed_any ON directory (sequence DESC)
    WHERE state = 'open' AND visibility = 'public' AND free_seats > 0;
CREATE INDEX directory_asked ON directory (created_at) WHERE state = 'asked';

-- Who sits where, as the milestones say. account_id NULL is a bot. An account may stand at two tables for a moment,
-- since the milestones of different tables are not ordered among themselves.
CREATE TABLE seat_holder (
    table_id   uuid NOT NULL REFERENCES directory ON DELETE CASCADE,
    seat       int NOT NULL CHECK (seat >= 0),
    account_id text,
    taken_at   timestamptz NOT NULL,
    PRIMARY KEY (table_id, seat)
);
CREATE INDEX seat_holder_account ON seat_holder (account_id) WHERE account_id IS NOT NULL;

-- A freed code rests before it is given to another table, so that a code from an old message opens nobody else's.
CREATE TABLE code (
    code     text PRIMARY KEY CHECK (code ~ '^[0-9]{6}$'),
    table_id uuid NOT NULL REFERENCES directory ON DELETE CASCADE,
    freed_at timestamptz
);
CREATE UNIQUE INDEX code_live ON code (table_id) WHERE freed_at IS NULL;
CREATE INDEX code_table ON code (table_id);

-- What was asked and answered under a key of a creation. request: word for word what the table service is asked, so
-- that a repeat asks the same. status NULL: not answered yet; a repeat finishes the same table.
CREATE TABLE idempotency (
    account_id  text NOT NULL REFERENCES account,
    key         text NOT NULL,
    body_sha256 bytea NOT NULL,
    table_id    uuid NOT NULL,
    request     bytea NOT NULL,
    status      int,
    answer      bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key),
    CHECK ((status IS NULL) = (answer IS NULL))
);
CREATE INDEX idempotency_age ON idempotency (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON account, token_family, refresh_token, grant_due, directory, seat_holder, code, idempotency
    TO :service_role;
