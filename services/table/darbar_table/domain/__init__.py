"""What a table decides and what it is: pure, no clock, no dice, no database. Begin with decide.py."""
