"""A whole game over real sockets, and proofs of it: `python -m darbar_client.demo`. Open __main__.py first."""
