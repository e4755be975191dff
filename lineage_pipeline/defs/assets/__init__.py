"""Dagster assets: the stages of a snapshot, what follows from it, marts, retention, repositories and their objects."""
