-- Administrators, their sessions, and the log of what they did.

-- administrator_by_name --
-- With what only the server may know.
SELECT administrator_id, name, role, password_hash, totp_secret, totp_step_last, account_ids
  FROM administrator
 WHERE name = $1 AND disabled_at IS NULL;

-- new_administrator_session --
-- Confirmed or not; a confirmed one takes the place of the one before ($6).
WITH ended AS (
    DELETE FROM administrator_session WHERE token_sha256 = $6
)
INSERT INTO administrator_session (token_sha256, administrator_id, confirmed, codes_left, expires_at)
VALUES ($1, $2, $3, $4, now() + $5 * interval '1 second');

-- administrator_session --
-- Who holds this token. One whose administrator was disabled is none.
SELECT administrator_id, name, role, account_ids, confirmed, expires_at <= now() AS expired
  FROM administrator_session JOIN administrator USING (administrator_id)
 WHERE token_sha256 = $1 AND disabled_at IS NULL;

-- try_code --
-- Counted before it is looked at: many at once are not more.
UPDATE administrator_session SET codes_left = codes_left - 1
  FROM administrator
 WHERE administrator.administrator_id = administrator_session.administrator_id
   AND token_sha256 = $1 AND NOT confirmed AND codes_left > 0 AND expires_at > now() AND disabled_at IS NULL
RETURNING totp_secret, totp_step_last;

-- use_code --
-- A code is good once, whoever shows it.
UPDATE administrator SET totp_step_last = $2 WHERE administrator_id = $1 AND totp_step_last < $2 RETURNING administrator_id;

-- end_administrator_session --
DELETE FROM administrator_session WHERE token_sha256 = $1;

-- forget_administrator_sessions --
-- $1 at a time; those that ended $2 days ago, so that whoever comes late is told why.
DELETE FROM administrator_session WHERE token_sha256 IN (
    SELECT token_sha256 FROM administrator_session
     WHERE expires_at < now() - $2 * interval '1 day' ORDER BY expires_at LIMIT $1);

-- new_administrator --
-- By the owner of the database. No row: the name is taken.
INSERT INTO administrator (administrator_id, name, role, password_hash, totp_secret, account_ids)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (name) DO NOTHING
RETURNING administrator_id;

-- disable_administrator --
-- By the owner of the database.
UPDATE administrator SET disabled_at = now() WHERE name = $1 AND disabled_at IS NULL RETURNING role;

-- accounts_of_handles --
SELECT account_id FROM account WHERE handle = ANY($1::text[]) ORDER BY account_id;

-- audit_lock --
-- One writes at a time, so that each link follows from the one before. With the time of the entry.
SELECT pg_advisory_xact_lock(hashtext('audit_entry')), clock_timestamp() AS at;

-- audit_last --
SELECT number, at, body, chain FROM audit_entry ORDER BY number DESC LIMIT 1;

-- new_audit_entry --
INSERT INTO audit_entry (number, at, body, chain) VALUES ($1, $2, $3, $4);

-- audit_page --
-- Newest first.
SELECT number, at, body, chain FROM audit_entry
 WHERE number < $1
   AND ($2::text IS NULL OR body ->> 'administrator' = $2)
   AND ($3::text IS NULL OR body ->> 'subject' = $3)
 ORDER BY number DESC LIMIT $4;

-- audit_after --
-- In their order, to follow the chain.
SELECT number, at, body, chain FROM audit_entry WHERE number > $1 ORDER BY number LIMIT $2;

-- Accounts as administrators see and change them.

-- ban --
-- A new one takes the place of the one before.
INSERT INTO ban (account_id, scope, until, reason, administrator)
SELECT account_id, $2, now() + $3::int * interval '1 hour', $4, $5
  FROM account WHERE account_id = $1 AND deleted_at IS NULL
ON CONFLICT (account_id, scope) DO UPDATE
   SET since = now(), until = excluded.until, reason = excluded.reason, administrator = excluded.administrator
RETURNING scope, since, until, reason, administrator;

-- lift_ban --
DELETE FROM ban WHERE account_id = $1 AND scope = $2 RETURNING scope;

-- bans --
-- Those that hold now, the widest first.
SELECT scope, since, until, reason, administrator FROM ban
 WHERE account_id = $1 AND (until IS NULL OR until > now())
 ORDER BY scope;

-- shut_outs --
-- At most $3 accounts after the id $1 that were banned or deleted in the last $2 seconds; no reason for the deleted.
SELECT account_id, max(reason) AS reason
  FROM (
    SELECT account_id, reason FROM ban
     WHERE since > now() - $2 * interval '1 second' AND (until IS NULL OR until > now())
    UNION ALL
    SELECT account_id, NULL FROM account WHERE deleted_at > now() - $2 * interval '1 second'
  ) AS shut_out
 WHERE account_id > $1
 GROUP BY account_id ORDER BY account_id LIMIT $3;

-- account_looked_at --
-- By its id or handle, also one that is no more.
SELECT account_id, handle, name, avatar, name_login, created_at, deleted_at
  FROM account WHERE account_id = $1 OR handle = $1;

-- sessions_of_account --
-- The last $2 sign-ins.
SELECT family.created_at AS began_at, max(token.used_at) AS used_at, family.revoked_at AS ended_at
  FROM token_family AS family LEFT JOIN refresh_token AS token USING (family_id)
 WHERE family.account_id = $1
 GROUP BY family.family_id
 ORDER BY family.created_at DESC LIMIT $2;

-- rename_account --
-- What others have reported of the names before is dealt with.
WITH settled AS (
    UPDATE name_report SET judgement = 'reset' WHERE account_id = $1 AND judgement IS NULL
)
UPDATE account SET name = $2 WHERE account_id = $1 AND deleted_at IS NULL RETURNING name;

-- delete_account --
-- Ledger and logs keep the id; here nothing is left that says who it was, and nobody signs in with it.
WITH gone AS (
    UPDATE account
       SET name = $2, avatar = $3, name_login = NULL, password_hash = NULL, deleted_at = now()
     WHERE account_id = $1 AND deleted_at IS NULL
    RETURNING account_id
), ended AS (
    DELETE FROM token_family USING gone WHERE token_family.account_id = gone.account_id
), met AS (
    DELETE FROM block USING gone WHERE gone.account_id IN (block.account_id, block.blocked_id)
), reported AS (
    DELETE FROM name_report USING gone WHERE gone.account_id IN (name_report.account_id, name_report.reporter_id)
), asked AS (
    DELETE FROM idempotency USING gone WHERE idempotency.account_id = gone.account_id
)
SELECT account_id FROM gone;
