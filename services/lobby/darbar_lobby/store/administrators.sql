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
