"""King, three games. Reading order: options, contracts, forms, events, state, deals, declaring, play, scoring, view."""
