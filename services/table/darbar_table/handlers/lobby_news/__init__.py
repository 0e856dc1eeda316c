"""What the lobby tells every table process."""
