"""Types: their shapes and families, how they are widened and converted, and the result types that dialects share."""
