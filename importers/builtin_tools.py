"""Other products' tools that are built in here under another name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Builtin:
    """Our name of a tool, and its arguments by the other product's names."""

    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    text: tuple[str, ...] = ()
    """Where the result as a text stands in ours."""

    def takes(self, argument: str) -> bool:
        """Whether the argument has a counterpart."""
        return argument in self.arguments


N8N_TOOLS: Final[dict[str, str]] = {
    "toolCalculator": "calculator", "toolCode": "python", "toolHttpRequest": "http_request", "httpRequestTool": "http_request",
}  # fmt: skip
DIFY_TOOLS: Final[dict[str, Builtin]] = {
    "current_time": Builtin("current_time", {"timezone": "time_zone"}, ("time",)),
    "webscraper": Builtin("web_fetch", {"url": "url"}, ("content",)),
    "simple_code": Builtin("python", {"code": "code"}, ("stdout",)),
    "eval_expression": Builtin("calculator", {"expression": "expression"}, ("text",)),
}
