-- Who does not want to meet whom (TL-8). at: the last one first in the list.
CREATE TABLE block (
    account_id text NOT NULL REFERENCES account,
    blocked_id text NOT NULL REFERENCES account,
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, blocked_id),
    CHECK (account_id <> blocked_id)
);
CREATE INDEX block_blocked ON block (blocked_id);

GRANT SELECT, INSERT, DELETE ON block TO :service_role;
