"""Drivers that print ratios: synthetic repositories go in, a table of costs over bare parsing comes out.

`generate` writes SQL of any size from a seed, `parse_ratio` measures, `python -m benchmarks` (`make bench`) prints.
"""
