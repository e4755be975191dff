"""Tests of the engine: from SQL text to lineage tables."""
