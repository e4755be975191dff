"""SQL dialects: a file for each with all that is true of it, and what they share; no other package asks which it is."""
