"""The documents that chat turns run: START, then whoever answers, then END."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_TURNS = 200
ANSWERER = "agent"
"""The id of the node that answers."""
OF_AGENT: Final = ("temperature", "max_tokens", "output_schema")
"""What a turn may ask of an agent's node, beside tools."""


def chat_document(agent_id: str | None, asked: Mapping[str, Any] | None = None) -> str:
    """The document of a turn with an agent, or with none chosen.

    Its inputs are `message`, `history` [{role, content, tools?}] and `files`; its outputs `answer` and what belongs to it.
    `asked` has what the turn asks for: `tools` of the client, and those of `OF_AGENT`.
    """
    asked = asked or {}
    file = {"type": "object", "format": "file"}
    said = {"type": "object", "properties": {"tools": {"type": "array", "items": {"type": "string"}}}}
    inputs: dict[str, Any] = {
        "type": "object",
        "required": ["message"],
        "properties": {
            "message": {"type": "string"},
            "history": {"type": "array", "items": said, "default": []},
            "files": {"type": "array", "items": file, "default": []},
        },
    }
    config = {
        "agent": agent_id or "auto",
        "prompt": "{{ inputs.message }}",
        "files": "{{ inputs.files }}",
        "history": _TURNS,
        **{name: asked[name] for name in OF_AGENT if name in asked},
    }
    outputs = {"answer": "text", "usage": "usage", "tool_calls": "tool_calls", "stop_reason": "stop_reason"}
    if "output_schema" in asked:
        outputs["data"] = "data"
        config["stream"] = False  # what is said before the data is no part of it
    if asked.get("tools"):
        inputs["properties"]["tools"] = {"type": "array", "items": {"type": "object"}}
        config["client_tools"] = "{{ inputs.tools }}"
    return json.dumps(
        {
            "name": "chat",
            "description": "One turn of a chat.",
            "inputs": inputs,
            "settings": {"chat": True},
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": ANSWERER, "type": "AGENT", "config": config},
                {
                    "id": "end",
                    "type": "END",
                    "config": {
                        "outputs": {name: f"{{{{ {ANSWERER}.{of} }}}}" for name, of in outputs.items()}
                    },
                },
            ],
            "edges": [f"start -> {ANSWERER}", f"{ANSWERER} -> end"],
        }
    )
