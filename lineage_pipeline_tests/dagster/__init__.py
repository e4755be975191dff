"""The Dagster assets, checks, sensors, retention and UI of a deployed project."""
