-- Statistics. What changes them runs in the transaction of the milestone that it comes from.

-- under_way --
-- The game of a table that counts and has not ended.
SELECT game_number, account_ids, points FROM game_under_way WHERE table_id = $1;

-- write_under_way --
-- With what each account has won in it.
INSERT INTO game_under_way (table_id, game_number, account_ids, points) VALUES ($1, $2, $3, $4)
ON CONFLICT (table_id) DO UPDATE
   SET game_number = excluded.game_number, account_ids = excluded.account_ids, points = excluded.points;

-- end_under_way --
-- It is over, or counts no more.
DELETE FROM game_under_way WHERE table_id = $1;

-- new_outcomes --
-- What a game came to for some players.
INSERT INTO game_outcome (table_id, game, number, account_id, game_number, kind, at, place, points)
SELECT $1, $2, * FROM unnest($3::int[], $4::text[], $5::int[], $6::text[], $7::timestamptz[], $8::int[], $9::int[])
RETURNING account_id, game, week;

-- take_outcomes_back --
-- Of one game of a table, or of all ($2 NULL).
DELETE FROM game_outcome WHERE table_id = $1 AND ($2::int IS NULL OR game_number = $2)
RETURNING account_id, game, week;

-- statistics_locked --
-- Before recount, as a statement of its own: what another transaction has stored of these accounts is seen by it then.
-- In the order in which they are given, so that no two wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended('statistics ' || account_id, 0)) FROM unnest($1::text[]) AS account_id;

-- recount --
-- Never by adding: counted again from the outcomes, so that a row is right whatever it was before.
WITH touched AS (
    SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::date[]) AS touched (account_id, game, week)
), counted AS (
    SELECT account_id, game, week,
           count(*) FILTER (WHERE kind = 'played') AS played, count(*) FILTER (WHERE place = 1) AS won,
           count(*) FILTER (WHERE kind = 'quit') AS quits, sum(points) AS points
      FROM touched JOIN game_outcome USING (account_id, game, week)
     GROUP BY account_id, game, week
), emptied AS (
    DELETE FROM week_statistics USING touched
     WHERE (week_statistics.account_id, week_statistics.game, week_statistics.week)
           = (touched.account_id, touched.game, touched.week)
       AND NOT EXISTS (SELECT 1 FROM counted
                        WHERE (counted.account_id, counted.game, counted.week)
                              = (touched.account_id, touched.game, touched.week))
)
INSERT INTO week_statistics (account_id, game, week, played, won, quits, points) SELECT * FROM counted
ON CONFLICT (account_id, game, week) DO UPDATE
   SET played = excluded.played, won = excluded.won, quits = excluded.quits, points = excluded.points;

-- uncounted_weeks --
-- Counted once, and no outcome says so any more.
SELECT account_id, game, week FROM week_statistics
 WHERE NOT EXISTS (SELECT 1 FROM game_outcome
                    WHERE (game_outcome.account_id, game_outcome.game, game_outcome.week)
                          = (week_statistics.account_id, week_statistics.game, week_statistics.week))
 LIMIT $1;

-- tables_told --
-- Those of which a milestone has told, in the order of their creation. tables_told_count has how many there are.
SELECT table_id, sequence, number FROM directory
 WHERE number > 0 AND sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3;

-- tables_told_count --
-- And the last of them.
SELECT count(*) AS tables, coalesce(max(sequence), 0) AS last FROM directory WHERE number > 0;

-- player --
-- By the handle that strangers know.
SELECT account_id, handle, name, avatar FROM account WHERE handle = $1;

-- player_of --
-- The same, by the account.
SELECT account_id, handle, name, avatar FROM account WHERE account_id = $1;

-- statistics_of --
-- All weeks together, by game.
SELECT game, sum(played)::bigint AS played, sum(won)::bigint AS won, sum(quits)::bigint AS quits,
       sum(points)::bigint AS points
  FROM week_statistics WHERE account_id = $1 GROUP BY game ORDER BY game;

-- games_of --
-- One page of an account's games, the last one first; of others only those at public tables.
SELECT played.* FROM game_outcome AS played JOIN directory USING (table_id)
 WHERE account_id = $1 AND ($2::timestamptz IS NULL OR (at, played.table_id, played.number) < ($2, $3::uuid, $4::int))
   AND ($5 OR visibility = 'public')
 ORDER BY at DESC, played.table_id DESC, played.number DESC LIMIT $6;

-- leaders --
-- One page of a week, with the name of now. Equal ones share a place.
WITH leader AS (
    SELECT week_statistics.*, handle, name, avatar FROM week_statistics JOIN account USING (account_id)
     WHERE game = $1 AND week = $2 AND played > 0
     ORDER BY won DESC, points DESC, account_id LIMIT $3
)
SELECT rank() OVER (ORDER BY won DESC, points DESC) AS place, handle, name, avatar, played, won, points
  FROM leader ORDER BY won DESC, points DESC, account_id OFFSET $4;
