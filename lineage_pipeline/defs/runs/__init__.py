"""Runs in this process: which snapshots are wanted, what is missing of them, and what is published."""
