"""IR and the schemas of what it reads in, columns, types, edges and facets out."""
