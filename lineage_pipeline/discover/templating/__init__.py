"""Templates → the SQL they stand for: variables go in, texts, what of them was copied, and findings come out.

`protocol` is what a templater is, ours or a plug-in's; `choosing` says which one a file needs.
"""
