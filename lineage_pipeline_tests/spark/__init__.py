"""Spark gives the rows of a single process, with a bounded number of jobs and after losing workers."""
