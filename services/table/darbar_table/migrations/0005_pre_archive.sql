-- Logs of tables that closed long ago, out of the way of those that are played at. Nobody but `archive_tables` takes a
-- row out of `event`, and it puts every one of them here.

CREATE TABLE event_archive (LIKE event INCLUDING ALL);
CREATE INDEX event_closed ON event (at) WHERE kind = 'table_closed';

-- Every event there is, wherever it lies.
CREATE VIEW every_event AS SELECT * FROM event UNION ALL SELECT * FROM event_archive;

-- Moves the whole logs of so many tables that closed before then; how many it were. With the owner's rights: the service
-- itself may not delete an event.
CREATE FUNCTION archive_tables(closed_before timestamptz, tables_max int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH closed AS (
        SELECT table_id FROM event e
         WHERE kind = 'table_closed' AND at < closed_before
           AND NOT EXISTS (SELECT 1 FROM open_table o WHERE o.table_id = e.table_id)
           AND NOT EXISTS (SELECT 1 FROM outbox x WHERE x.table_id = e.table_id)
         ORDER BY at LIMIT tables_max
    ), moved AS (
        DELETE FROM event USING closed WHERE event.table_id = closed.table_id RETURNING event.*
    ), kept AS (
        INSERT INTO event_archive SELECT * FROM moved RETURNING version
    ), forgotten AS (
        DELETE FROM table_snapshot USING closed WHERE table_snapshot.table_id = closed.table_id
    )
    SELECT count(*) FROM kept WHERE version = 1
$$;
REVOKE ALL ON FUNCTION archive_tables FROM PUBLIC;

GRANT SELECT ON event_archive, every_event TO :service_role;
GRANT EXECUTE ON FUNCTION archive_tables TO :service_role;
