"""The `darbar` command: everything on one machine. Open this to find where a command begins: commands.py."""
