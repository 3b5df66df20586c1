"""A program that speaks MCP by hand and badly: one request at a time, errors of its own, endless pages."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

ENDLESS = os.environ.get("SHOP_DESCRIPTION", "")
pages = 0


def tools(params: dict[str, Any]) -> dict[str, Any]:
    global pages  # noqa: PLW0603 - a program's state
    pages += 1
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in ("block", "own", "echo")]
    if ENDLESS == "same":
        return {"tools": listed, "nextCursor": "c"}
    if ENDLESS == "empty":
        return {"tools": [] if params.get("cursor") else listed, "nextCursor": f"c{pages}"}
    return {"tools": listed}


def call(name: str) -> dict[str, Any]:
    if name == "block":
        time.sleep(60)
    if name == "own":
        return {"error": {"code": -32_000, "message": "out of tea"}}
    return {"result": {"content": [{"type": "text", "text": name}]}}


for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked.get("method"), asked.get("params") or {}
    if "id" not in asked:
        continue
    if method == "initialize":
        about = {"name": "odd", "version": "1"}
        answer: dict[str, Any] = {
            "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        }
    elif method == "tools/list":
        answer = {"result": tools(params)}
    elif method == "tools/call":
        answer = call(params["name"])
    else:
        answer = {"error": {"code": -32_601, "message": "no such method"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}) + "\n")
    sys.stdout.flush()
