"""The rules: a pair of lineages goes in, findings come out, one small function for one kind of change."""
