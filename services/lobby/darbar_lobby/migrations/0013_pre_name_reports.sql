-- Names that players have reported. Who reported one, nobody is told.

-- name: as it was then. judgement NULL: nobody has dealt with it; dismissed: nothing was wrong; reset: the name was taken
-- back.
CREATE TABLE name_report (
    account_id  text NOT NULL REFERENCES account,
    name        text NOT NULL,
    reporter_id text NOT NULL REFERENCES account,
    at          timestamptz NOT NULL DEFAULT now(),
    judgement   text CHECK (judgement IN ('dismissed', 'reset')),
    PRIMARY KEY (account_id, name, reporter_id),
    CHECK (reporter_id <> account_id)
);
CREATE INDEX name_report_waiting ON name_report (account_id, name) WHERE judgement IS NULL;
CREATE INDEX name_report_reporter ON name_report (reporter_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON name_report TO :service_role;
