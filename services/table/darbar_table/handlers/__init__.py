"""What other services and players ask besides cards, one module a kind of question; http, bus and socket translate."""
