"""Scripts seen from outside in, the object graph out: every name resolved once, definitions folded, cycles found."""
