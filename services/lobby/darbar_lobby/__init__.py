"""Accounts, sessions, the catalogue, the directory of tables, codes and invites. Open README.md first."""
