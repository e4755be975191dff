"""The same queries as other tools write them: databases print views, libraries print trees. Lineage may not notice."""
