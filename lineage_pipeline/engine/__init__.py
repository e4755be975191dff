"""The pure core: text and schemas in, tables and findings out. No files, clock, environment, logging or Spark."""
