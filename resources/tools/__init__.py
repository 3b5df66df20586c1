"""Tools: what agents' models and TOOL nodes call."""

from interlace.resources.tools.registry import BuiltinTools, builtin_tools
from interlace.resources.tools.tool import Category, Gate, Tool, ToolContext, ToolResult

__all__ = ["BuiltinTools", "Category", "Gate", "Tool", "ToolContext", "ToolResult", "builtin_tools"]
