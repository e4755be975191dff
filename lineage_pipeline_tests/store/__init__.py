"""The warehouse shows a snapshot whole or not at all, whatever happens to its writers, its files or its version."""
