-- A refresh whose answer was lost is repeated with the same token and gets the same successor for a while.
-- successor_salt makes the successor out of the token itself: only who shows the token again learns the successor, and
-- the database still holds no token. Tokens that were used before this migration have no successor to repeat.
ALTER TABLE refresh_token
    ADD COLUMN successor_salt bytea CHECK (octet_length(successor_salt) = 32),
    ADD COLUMN successor_sha256 bytea UNIQUE CHECK (octet_length(successor_sha256) = 32),
    ADD CONSTRAINT refresh_token_successor_whole CHECK ((successor_salt IS NULL) = (successor_sha256 IS NULL)),
    ADD CONSTRAINT refresh_token_successor_of_used CHECK (successor_salt IS NULL OR used_at IS NOT NULL);

-- A sign-in has one token that works: whatever races, a family never forks.
CREATE UNIQUE INDEX refresh_token_unused ON refresh_token (family_id) WHERE used_at IS NULL;
