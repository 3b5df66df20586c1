"""API connectors: what they are, how they are imported, and the one adapter that calls them for nodes and agents."""
