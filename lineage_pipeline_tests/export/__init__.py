"""Exports, events and reports are read by real readers of each format, and names in them are never more than names."""
