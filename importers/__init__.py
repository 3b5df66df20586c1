"""Converters from other products' files."""
