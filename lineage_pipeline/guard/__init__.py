"""A function and its items go in, what it makes of each comes out, or why it was stopped.

The work is done in a child process that the kernel ends when a step takes too much time, and that cannot take more
memory than it may: whatever happens to it costs the item it was at, and nobody else.
"""
