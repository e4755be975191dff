"""The project itself: import contracts, documentation, CI templates, dependencies, benchmarks, regular expressions."""
