"""Alerts: evaluations of checks go in, messages to people come out, each once, and none is lost.

`alert` decides what is worth a message, `outbox` keeps it until a sink has taken it, `sinks` write and send it.
"""
