"""Drawings: lineage or one statement as boxes and arrows, and where they go on a page."""
