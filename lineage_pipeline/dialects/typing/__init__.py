"""Types: how each family of dialects spells them, widens them, and what its operators and functions give."""
