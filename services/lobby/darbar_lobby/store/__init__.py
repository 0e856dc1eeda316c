"""The lobby's database: the statements of queries.sql, as methods."""
