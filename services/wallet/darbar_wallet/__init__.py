"""The wallet: every coin in a double-entry ledger. Open this when you look for where to begin: app.py."""
