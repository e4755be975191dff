"""Every command: arguments, exit codes, output formats, messages and documented behavior."""
