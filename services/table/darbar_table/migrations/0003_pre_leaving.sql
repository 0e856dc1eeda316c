-- A process that is about to stop hands its shards to others, and nobody hands it any.

ALTER TABLE table_process ADD COLUMN leaving boolean NOT NULL DEFAULT false;
