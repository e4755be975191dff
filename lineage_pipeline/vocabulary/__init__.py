"""The nouns of the house: frozen structs and closed sets, no behaviour.

`ir` is what a compiled statement looks like, `tables` are the rows everybody reads, `codes` are the findings.
"""
