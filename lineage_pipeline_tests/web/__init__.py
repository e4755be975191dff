"""The explorer: its pages, its API and its behavior in a browser and under load."""
