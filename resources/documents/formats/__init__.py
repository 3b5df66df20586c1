"""One module a format: bytes in, blocks and metadata out. Loaded only in the process that extracts."""
