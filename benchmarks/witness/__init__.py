"""Witnessed lineage: run generated SQL on real engines, change one source column, and see what follows from it.

What changes in the results is lineage that no tool can argue with. `queries` writes programs, `rows` fills and changes
tables, `engines` runs them, `judge` compares what was seen with what a tool says, `tools` asks the tools.
"""
