-- Tables are searched by those who run Darbar: by player, game, state and time.

-- Who has ever sat at a table, as its milestones say; of tables from before this migration the hosts, those who sit there
-- and those who played a game. created_at: of the table.
CREATE TABLE table_player (
    account_id text NOT NULL,
    created_at timestamptz NOT NULL,
    table_id   uuid NOT NULL REFERENCES directory ON DELETE CASCADE,
    PRIMARY KEY (account_id, created_at, table_id)
);
CREATE INDEX table_player_table ON table_player (table_id);

INSERT INTO table_player (account_id, created_at, table_id)
SELECT account_id, created_at, table_id
  FROM directory
  JOIN (SELECT host_id AS account_id, table_id FROM directory
        UNION SELECT account_id, table_id FROM seat_holder WHERE account_id IS NOT NULL
        UNION SELECT account_id, table_id FROM game_outcome) AS sat USING (table_id);

CREATE INDEX directory_searched ON directory (game, state, playing, created_at DESC, sequence DESC);

GRANT SELECT, INSERT ON table_player TO :service_role;
