"""What happens for one question or one upload."""
