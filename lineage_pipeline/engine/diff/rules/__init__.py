"""Rules: a pair of lineages in, findings out; one small function for each kind of change."""
