"""Stored agents: personas with a scope."""
