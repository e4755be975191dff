"""Settings from file, environment and flags are merged in a fixed order, and wrong ones are refused in one sentence."""
