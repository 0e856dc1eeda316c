"""A game that only tests register: follow suit, no trump. What a new game needs, and nothing more. Start in game.py."""
