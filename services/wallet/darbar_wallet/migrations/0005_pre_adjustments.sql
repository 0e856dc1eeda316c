-- Administrators put a player's coins right: out of the bank or back to it. The words first, used by the next migration.

ALTER TYPE transfer_kind ADD VALUE 'adjustment';
ALTER TYPE entry_reason ADD VALUE 'adjustment';
