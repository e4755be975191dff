"""What differs between dialects, as tables of traits: nothing else in the house asks which dialect it is."""
