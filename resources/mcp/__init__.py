"""MCP servers: definitions, the operator's catalogue of programs, pooled connections, tools whose changes are noticed."""

from interlace.resources.mcp.catalog import Catalog, CatalogError
from interlace.resources.mcp.definition import HttpServer, McpServer, StdioServer, read_definition
from interlace.resources.mcp.pool import McpPool
from interlace.resources.mcp.result import McpResult
from interlace.resources.mcp.servers import McpServers, ServerInfo
from interlace.resources.mcp.tools import McpTool, Trust

__all__ = [
    "Catalog",
    "CatalogError",
    "HttpServer",
    "McpPool",
    "McpResult",
    "McpServer",
    "McpServers",
    "McpTool",
    "ServerInfo",
    "StdioServer",
    "Trust",
    "read_definition",
]
