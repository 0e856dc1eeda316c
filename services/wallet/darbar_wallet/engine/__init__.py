"""The one process that writes: who it is, and how it answers in batches. Begin with leader.py."""
