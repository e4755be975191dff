"""Results of CLI commands as text for people, JSON for programs and, where there are rows, CSV."""
