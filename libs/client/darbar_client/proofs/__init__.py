"""Proofs of a finished game that need no trust in the server."""
