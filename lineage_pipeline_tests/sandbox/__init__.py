"""A statement that exceeds its time or memory is stopped in a child process and costs nothing else."""
