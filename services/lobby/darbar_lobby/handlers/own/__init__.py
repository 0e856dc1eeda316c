"""What people may do with all that is kept of them."""
