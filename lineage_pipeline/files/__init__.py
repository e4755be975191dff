"""Reading strangers' files: bounded reads, encodings, YAML and TOML, path patterns, the git command.

A path or bytes go in, checked text or one sentence about the problem comes out.
"""
