"""How a service runs, without a word of the game. Open this to learn what belongs here."""
