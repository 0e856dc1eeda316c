"""Everything that crosses a process: one file for the service that owns the wire."""
