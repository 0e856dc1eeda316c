"""What a request does to the ledger: pure, no clock, no database. Begin with decide.py."""
