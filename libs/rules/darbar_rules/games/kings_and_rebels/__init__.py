"""Kings and Rebels (3 of Spades), four to twelve seats, teams that are hidden. Start reading in game.py."""
