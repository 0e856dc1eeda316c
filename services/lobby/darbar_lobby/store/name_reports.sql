-- Names that players have reported.

-- report_name --
-- The name that the account with the handle $1 has now, by $2. What was dismissed is not asked again; a name that was
-- taken back and chosen again is.
WITH reported AS (
    SELECT account_id, name FROM account WHERE handle = $1 AND deleted_at IS NULL
), made AS (
    INSERT INTO name_report (account_id, name, reporter_id, judgement)
    SELECT account_id, name, $2,
           (SELECT 'dismissed' FROM name_report AS before
             WHERE before.account_id = reported.account_id AND before.name = reported.name
               AND before.judgement = 'dismissed' LIMIT 1)
      FROM reported WHERE account_id <> $2
    ON CONFLICT (account_id, name, reporter_id)
    DO UPDATE SET at = now(), judgement = NULL WHERE name_report.judgement = 'reset'
)
SELECT account_id FROM reported;

-- reported_names --
-- By account: the most reports first, then the oldest; after $1 reports, the first at $2, of the account $3.
SELECT account_id, handle, account.name, names, reports, reported_at
  FROM account JOIN (
    SELECT account_id, array_agg(DISTINCT name) AS names, count(*)::int AS reports, min(at) AS reported_at
      FROM name_report WHERE judgement IS NULL GROUP BY account_id
  ) AS reported USING (account_id)
 WHERE (-reports, reported_at, account_id) > (-$1::int, $2::timestamptz, $3::text)
 ORDER BY -reports, reported_at, account_id
 LIMIT $4;

-- dismiss_name --
UPDATE name_report SET judgement = 'dismissed'
 WHERE account_id = $1 AND name = $2 AND judgement IS DISTINCT FROM 'reset'
RETURNING account_id;

-- names_waiting --
SELECT count(DISTINCT (account_id, name)) AS waiting FROM name_report WHERE judgement IS NULL;
