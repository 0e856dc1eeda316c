"""Court Piece (Rung). Reading order: options, events, state, deals, play, piles, results, view; game ties them up."""
