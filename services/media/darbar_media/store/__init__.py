"""Where notes and their sound are kept."""
