"""Alerts are sent once, to the right receivers, and survive crashes and servers that are down."""
