-- Who may not play, and accounts that are no more.

-- scope: tables: the account may look around and sit nowhere; all: it may not sign in. until NULL: for good.
CREATE TABLE ban (
    account_id    text NOT NULL REFERENCES account,
    scope         text NOT NULL CHECK (scope IN ('tables', 'all')),
    since         timestamptz NOT NULL DEFAULT now(),
    until         timestamptz,
    reason        text NOT NULL,
    administrator text NOT NULL,
    PRIMARY KEY (account_id, scope)
);

-- An account that is no more keeps its id, by which ledger and logs know it, and nothing that says who it was.
ALTER TABLE account
    ADD COLUMN deleted_at timestamptz,
    ADD CONSTRAINT deleted_signs_in_nowhere CHECK (deleted_at IS NULL OR name_login IS NULL);

GRANT SELECT, INSERT, UPDATE, DELETE ON ban TO :service_role;
