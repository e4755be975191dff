"""Object graph: script interfaces in; every name resolved once, definitions ordered, dependency cycles found."""
