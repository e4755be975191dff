"""Dagster sensors and schedules: watched repositories, alerts about checks, the marts and the nightly retention."""
