"""Linking: the IR of a script and the schemas it reads in; columns, types, column edges and facets out."""
