"""Sandbox: a function runs over items in a child process with limits on CPU time and memory.

The kernel ends the child when a step takes too long or too much memory; that costs the current item and nothing else.
"""
