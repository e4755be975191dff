"""JSON documents: lineage and changes as JSON, lineage read back from JSON, and the published JSON Schemas."""
