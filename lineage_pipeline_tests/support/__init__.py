"""Helpers that tests share: cases, generators, servers, fault injection and example runs; no test is in here."""
