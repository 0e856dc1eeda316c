"""The ledger in PostgreSQL: the statements of queries.sql, as methods. Begin with ledger_store.py."""
