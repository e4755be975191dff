"""Real engines as oracles: what they say about a query, in a form that ours can be compared with."""
