"""Templates → the SQL they render to: variables go in; texts, their source maps and findings come out.

`protocol` defines a templater, ours or a plug-in's; `templaters` chooses the one a file needs.
"""
