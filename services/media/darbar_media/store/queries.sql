-- add_note --
-- The unique index refuses a second note of the same round.
INSERT INTO note (note_id, table_id, game_number, round, account_id, seat, listeners, milliseconds, sent_at, plays_at,
                  kept_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (table_id, game_number, round, account_id) DO NOTHING
RETURNING note_id;

-- find_note --
SELECT note_id, table_id, game_number, round, account_id, seat, listeners, milliseconds, sent_at, plays_at, reports,
       reported_at, judgement
  FROM note WHERE note_id = $1;

-- has_note --
SELECT 1 FROM note WHERE table_id = $1 AND game_number = $2 AND round = $3 AND account_id = $4;

-- report_note --
-- Each listener counts once, however often it is sent; a note that has been dealt with is not reported again.
WITH made AS (
    INSERT INTO report (note_id, account_id, at) SELECT note_id, $2, $3 FROM note WHERE note_id = $1
    ON CONFLICT DO NOTHING RETURNING note_id
)
UPDATE note SET reports = reports + 1, reported_at = coalesce(reported_at, $3) FROM made WHERE note.note_id = made.note_id;

-- reported_notes --
-- The most reports first, then the oldest; after the note of $1 reports, first reported at $2, with the id $3.
SELECT note_id, table_id, game_number, round, account_id, milliseconds, sent_at, reports, reported_at
  FROM note
 WHERE reports > 0 AND judgement IS NULL
   AND (-reports, reported_at, note_id) > (-$1::int, $2::timestamptz, $3::uuid)
 ORDER BY -reports, reported_at, note_id
 LIMIT $4;

-- judge_note --
-- What is deleted stays deleted.
UPDATE note SET judgement = CASE WHEN judgement = 'deleted' THEN judgement ELSE $2 END WHERE note_id = $1
RETURNING account_id, judgement;

-- notes_over --
-- Whose sound is to be deleted: deleted by a moderator, or the time is over and nobody still has to judge it.
SELECT note_id, reports > 0 AS reported, kept_until <= $1 AND (reports = 0 OR judgement IS NOT NULL) AS forgotten
  FROM note
 WHERE (judgement = 'deleted' AND NOT silent) OR (kept_until <= $1 AND (reports = 0 OR judgement IS NOT NULL))
 LIMIT $2;

-- silence_note --
UPDATE note SET silent = true WHERE note_id = $1 AND judgement = 'deleted';

-- forget_note --
-- Looks again: somebody may have reported it meanwhile.
DELETE FROM note WHERE note_id = $1 AND kept_until <= $2 AND (reports = 0 OR judgement IS NOT NULL);

-- reports_waiting --
SELECT count(*) AS waiting, min(reported_at) AS oldest FROM note WHERE reports > 0 AND judgement IS NULL;

-- ban_of --
SELECT since, until, reason FROM voice_ban WHERE account_id = $1;

-- ban --
INSERT INTO voice_ban (account_id, since, until, reason) VALUES ($1, $2, $3, $4)
ON CONFLICT (account_id) DO UPDATE SET since = excluded.since, until = excluded.until, reason = excluded.reason;

-- lift_ban --
DELETE FROM voice_ban WHERE account_id = $1;
