-- Voice notes: what is known of each, who has reported it, who may send none. The sound lies elsewhere.

CREATE TABLE note (
    note_id uuid PRIMARY KEY,
    table_id uuid NOT NULL,
    game_number int NOT NULL,
    round int NOT NULL,
    account_id text NOT NULL,
    seat int NOT NULL,
    listeners text[] NOT NULL,
    milliseconds int NOT NULL CHECK (milliseconds BETWEEN 1 AND 7000),
    sent_at timestamptz NOT NULL,
    plays_at timestamptz NOT NULL,
    kept_until timestamptz NOT NULL,
    reports int NOT NULL DEFAULT 0,
    reported_at timestamptz CHECK ((reported_at IS NULL) = (reports = 0)),
    judgement text CHECK (judgement IN ('dismissed', 'deleted')),
    -- Its sound is deleted, and the row waits for its time only so that a moderator's second command is answered alike.
    silent boolean NOT NULL DEFAULT false CHECK (NOT silent OR judgement = 'deleted'),
    -- One note a round (TL-46).
    UNIQUE (table_id, game_number, round, account_id)
);
CREATE INDEX note_kept_until ON note (kept_until);
CREATE INDEX note_reported ON note ((-reports), reported_at, note_id) WHERE reports > 0 AND judgement IS NULL;
CREATE INDEX note_to_silence ON note (note_id) WHERE judgement = 'deleted' AND NOT silent;

CREATE TABLE report (
    note_id uuid NOT NULL REFERENCES note ON DELETE CASCADE,
    account_id text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (note_id, account_id)
);

-- One at a time for an account; until NULL: for good.
CREATE TABLE voice_ban (
    account_id text PRIMARY KEY,
    since timestamptz NOT NULL,
    until timestamptz,
    reason text NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON note TO :service_role;
GRANT SELECT, INSERT ON report TO :service_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON voice_ban TO :service_role;
