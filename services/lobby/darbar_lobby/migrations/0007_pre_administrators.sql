-- Who runs Darbar, their sessions, and what they did. Administrators are no accounts: nobody plays as one.

-- Made and changed by the owner of the database alone (`darbar admin`): who takes over a lobby makes no administrator.
-- account_ids: with which accounts the same person plays. totp_step_last: a code is good once.
CREATE TABLE administrator (
    administrator_id uuid PRIMARY KEY,
    name             text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9_.-]{3,32}$'),
    role             text NOT NULL CHECK (role IN ('admin', 'auditor')),
    password_hash    text NOT NULL,
    totp_secret      bytea NOT NULL CHECK (octet_length(totp_secret) >= 20),
    totp_step_last   bigint NOT NULL DEFAULT 0,
    account_ids      text[] NOT NULL DEFAULT '{}',
    created_at       timestamptz NOT NULL DEFAULT now(),
    disabled_at      timestamptz
);

-- confirmed: the second factor was given too. codes_left: how often it may still be tried.
CREATE TABLE administrator_session (
    token_sha256     bytea PRIMARY KEY CHECK (octet_length(token_sha256) = 32),
    administrator_id uuid NOT NULL REFERENCES administrator,
    confirmed        boolean NOT NULL,
    codes_left       int NOT NULL CHECK (codes_left >= 0),
    expires_at       timestamptz NOT NULL
);
CREATE INDEX administrator_session_end ON administrator_session (expires_at);

-- chain covers the row and the chain before it. body: who did what to what, and why, word for word.
CREATE TABLE audit_entry (
    number bigint PRIMARY KEY CHECK (number > 0),
    at     timestamptz NOT NULL,
    body   json NOT NULL,
    chain  bytea NOT NULL CHECK (octet_length(chain) = 32)
);
CREATE INDEX audit_entry_subject ON audit_entry ((body ->> 'subject'), number);
CREATE INDEX audit_entry_administrator ON audit_entry ((body ->> 'administrator'), number);

GRANT SELECT, UPDATE (totp_step_last) ON administrator TO :service_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON administrator_session TO :service_role;
-- What was done stays: rows are added and read, by nobody changed.
GRANT SELECT, INSERT ON audit_entry TO :service_role;
