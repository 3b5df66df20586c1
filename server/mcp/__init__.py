"""Published workflows as tools of an MCP server, in the protocol's two eras."""
