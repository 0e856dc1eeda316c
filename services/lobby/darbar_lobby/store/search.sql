-- Tables as those who run Darbar look for them, newest first. Each of these reads no more than it answers, by an index.

-- find_tables --
-- Of a game ($1, NULL: of any) in these states ($2 and $3), before a place in the order ($4, $5) and not before a time
-- ($6). Which games there are is looked up in the index, one step a game: some may be of another version.
WITH RECURSIVE known (game) AS (
    (SELECT game FROM directory ORDER BY game LIMIT 1)
     UNION ALL
    SELECT (SELECT directory.game FROM directory WHERE directory.game > known.game ORDER BY directory.game LIMIT 1)
      FROM known WHERE known.game IS NOT NULL
)
SELECT found.*
  FROM (SELECT $1::text AS game UNION ALL SELECT known.game FROM known WHERE $1 IS NULL) AS wanted
 CROSS JOIN unnest($2::text[], $3::boolean[]) AS stands (state, playing)
 CROSS JOIN LATERAL (
        SELECT * FROM directory
         WHERE directory.game = wanted.game AND directory.state = stands.state AND directory.playing = stands.playing
           AND (created_at, sequence) < ($4, $5) AND created_at >= $6
         ORDER BY created_at DESC, sequence DESC LIMIT $7
       ) AS found
 ORDER BY created_at DESC, sequence DESC LIMIT $7;

-- find_tables_of_player --
-- The same, where this account ($8) has ever sat.
SELECT directory.*
  FROM table_player AS sat JOIN directory USING (table_id)
 WHERE sat.account_id = $8 AND sat.created_at <= $4 AND sat.created_at >= $6
   AND (sat.created_at, sequence) < ($4, $5)
   AND ($1::text IS NULL OR game = $1)
   AND (state, playing) IN (SELECT * FROM unnest($2::text[], $3::boolean[]))
 ORDER BY sat.created_at DESC, sequence DESC LIMIT $7;

-- tables_named --
SELECT * FROM directory WHERE table_id = ANY($1::uuid[]) ORDER BY created_at DESC, sequence DESC;

-- table_with_code --
-- Also a code that was freed lately.
SELECT table_id FROM code WHERE code = $1;

-- account_of_handle --
SELECT account_id FROM account WHERE handle = $1;

-- players_of_tables --
-- Everybody who has ever sat there. Of an account that is no more only the id is left.
SELECT table_id, account_id, handle, coalesce(name, '') AS name, coalesce(avatar, '') AS avatar
  FROM table_player LEFT JOIN account USING (account_id)
 WHERE table_id = ANY($1::uuid[])
 ORDER BY table_id, account_id;

-- chains_after --
-- Of which version of each table this directory was told last.
SELECT table_id, version, chain FROM directory
 WHERE state <> 'asked' AND ($1::uuid IS NULL OR table_id > $1)
 ORDER BY table_id LIMIT $2;

-- note_players --
-- Of the table of this id, whoever sits there now.
INSERT INTO table_player (account_id, created_at, table_id)
SELECT account_id, created_at, table_id
  FROM directory CROSS JOIN unnest($2::text[]) AS sits (account_id)
 WHERE table_id = $1
ON CONFLICT DO NOTHING;
