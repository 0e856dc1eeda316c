"""Voice notes: checked, kept, reported, moderated."""
