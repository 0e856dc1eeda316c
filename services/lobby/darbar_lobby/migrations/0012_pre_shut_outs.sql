-- Table processes ask again and again who was shut out a short while ago.
CREATE INDEX ban_since ON ban (since);
CREATE INDEX account_deleted_at ON account (deleted_at) WHERE deleted_at IS NOT NULL;
