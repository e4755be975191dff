"""Types: how each dialect family spells and widens them, and the result types of operators and functions."""
