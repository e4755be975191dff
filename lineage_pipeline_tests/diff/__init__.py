"""Comparing two lineages: which changes are reported, whom they break, and which edits are no change."""
