"""Differences between SQL dialects, as tables: no other package asks which dialect it is."""
