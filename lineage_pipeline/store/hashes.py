"""Hashes of values, the same in every process."""

import hashlib

import msgspec


def hash_of(parts: object) -> str:
    """Name a value by what it holds."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()
