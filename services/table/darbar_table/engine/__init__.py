"""The tables that a process holds in memory, and what happens around them. Begin with node.py, then owner.py."""
