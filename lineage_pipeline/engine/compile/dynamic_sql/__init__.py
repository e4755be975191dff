"""SQL inside strings: constant folding of texts, IDENTIFIER(…), and the statements of executed texts."""
