"""Which process owns which tables. Begin with lease.py."""
