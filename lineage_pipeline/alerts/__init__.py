"""Evaluations of checks go in, messages to people come out: each once, to those whom they concern, and none is lost.

`judging` says what is worth a message, `outbox` keeps it until a sink of `sinks` has taken it, `wording` writes it.
"""
