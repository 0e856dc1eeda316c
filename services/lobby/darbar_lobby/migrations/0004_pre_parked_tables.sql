-- Tables whose milestones could not be applied. They are asked for again from the table service, ever more rarely, and
-- meanwhile the milestones of all other tables go on.
CREATE TABLE parked_table (
    table_id  uuid PRIMARY KEY,
    reason    text NOT NULL,
    attempts  int NOT NULL DEFAULT 0,
    parked_at timestamptz NOT NULL DEFAULT now(),
    next_at   timestamptz NOT NULL
);
CREATE INDEX parked_table_next ON parked_table (next_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON parked_table TO :service_role;
