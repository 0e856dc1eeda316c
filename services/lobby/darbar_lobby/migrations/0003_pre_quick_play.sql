-- Quick play brings people together whichever lobby they ask: who was sent to a table holds a place there for a moment.
CREATE TABLE quick_play_place (
    account_id text PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    table_id   uuid NOT NULL REFERENCES directory ON DELETE CASCADE,
    held_until timestamptz NOT NULL
);
CREATE INDEX quick_play_place_table ON quick_play_place (table_id);
CREATE INDEX quick_play_place_end ON quick_play_place (held_until);

-- abandoned_until: a host who sits alone is on the way to an older table; quick play sends nobody here until then.
ALTER TABLE directory ADD COLUMN abandoned_until timestamptz;
CREATE INDEX directory_quick_play ON directory (game, bet_coins)
    WHERE state <> 'closed' AND visibility = 'public' AND free_seats > 0;

-- One at a time makes a table; the others wait for its answer, and one takes over when the maker fails or this passes.
-- Who was sent by quick play to a table that is still being made waits in the same way.
ALTER TABLE idempotency ADD COLUMN making_until timestamptz;
CREATE INDEX idempotency_table ON idempotency (table_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON quick_play_place TO :service_role;
