"""Pure rules of the lobby: no database, no bus, no clock, no dice."""
