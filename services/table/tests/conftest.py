"""The fixtures of the table service's tests; they are written in table_fixtures.py, where mypy reads them too."""

from table_fixtures import bus, start_table, table_database, table_id

__all__ = ["bus", "start_table", "table_database", "table_id"]
