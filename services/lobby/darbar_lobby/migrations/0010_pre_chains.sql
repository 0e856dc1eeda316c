-- The link of the event of each table's last milestone: a log whose end was cut off is found by it. 0: of an older
-- process, which did not tell it.
ALTER TABLE directory
    ADD COLUMN version int NOT NULL DEFAULT 0 CHECK (version >= 0),
    ADD COLUMN chain text NOT NULL DEFAULT '';
