"""The built-in tools, one file a family."""
