"""How a recording becomes a note, in processes of its own."""
