"""What the pages of chat, resources and agents are shown with: scripted models, an API, a database, documents, skills."""

from __future__ import annotations

from typing import Any

import httpx2

from interlace.resources.models.testing import Asked, ScriptedModels

MARKDOWN = """Here is the **plan** for the week:

1. Pack the boxes
2. Call the *carrier*

| day | orders |
|---|---:|
| Monday | 12 |
| Tuesday | 31 |

```python
total = sum(order.amount for order in orders)
```

See `orders.total`, and [the manual](https://example.com/manual).
"""
HANDBOOK = """# Leave

Every employee has 25 days of leave a year. Five unused days carry over to the next year.

# Travel

Journeys below six hours are made by train. Flights need the consent of the team lead.

# Expenses

Receipts are handed in within 30 days. Meals are paid up to 40 euros a day.
"""


def _orders(asked: Asked) -> dict[str, Any]:
    call = {"subcommand": "execute", "connector": "shop", "action": "create_order",
            "parameters": {"body": {"product": "lamp", "quantity": 2}}}  # fmt: skip
    return {"tool_calls": [{"name": "connector", "arguments": call}]}


RULES: list[dict[str, Any]] = [
    {"when": {"system": "three to seven words"}, "reply": "A short title"},
    {"when": {"user": "calculate", "has_tool_result": True}, "reply": {"text": "It is **42**, as the calculator says.", "chunk_delay": 0.01}},
    {"when": {"user": "calculate", "has_tools": True}, "reply": {"text": "Let me work that out.", "tool_calls": [{"name": "calculator", "arguments": {"expression": "6*7"}}]}},
    {"when": {"user": "leave", "has_tool_result": True}, "reply": "You have 25 days of leave, and five unused days carry over [1]."},
    {"when": {"user": "leave", "has_tools": True}, "reply": {"tool_calls": [{"name": "kb_retrieve", "arguments": {"query": "unused days of leave"}}]}},
    {"when": {"user": "order lamps", "has_tool_result": True}, "reply": "Done."},
    {"when": {"user": "order lamps", "has_tools": True}, "reply": _orders},
    {"when": {"user": "slowly"}, "reply": {"text": "One word after the other. " * 60, "chunk_delay": 0.05, "chunk_size": 8}},
    {"when": {"user": "plan"}, "reply": {"text": MARKDOWN, "chunk_delay": 0.01, "chunk_size": 12}},
    {"when": {"user": "broken"}, "reply": {"status": 401, "error": "Incorrect API key provided"}},
    {"when": {"user": "another"}, "reply": ["The first answer.", "The second answer.", "The third answer."]},
    {"reply": {"text": "Fine. What else?"}},
]  # fmt: skip
SHOP = """
openapi: 3.1.0
info: {title: Lamp shop, version: 1.0.0, description: Orders and customers of the lamp shop.}
servers: [{url: "%s"}]
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
security: [{key: []}]
paths:
  /orders:
    get:
      operationId: list_orders
      summary: List orders
      parameters:
        - {name: status, in: query, schema: {type: string, enum: [open, sent]}, description: Only those of this status}
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100, default: 20}}
      responses: {"200": {description: The orders}}
    post:
      operationId: create_order
      summary: Place an order
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [product, quantity]
              properties: {product: {type: string}, quantity: {type: integer, minimum: 1}}
      responses: {"201": {description: The order}}
  /orders/{id}:
    delete:
      operationId: cancel_order
      summary: Cancel an order
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: It is cancelled}}
"""
SKILL = """---
name: refunds
description: How refunds are decided and paid.
---

# Refunds

1. Look up the order.
2. Below **50 euros** refund at once; above, ask the team lead.
"""


def provider(url: str) -> dict[str, Any]:
    """The provider whose models are scripted."""
    price = {"input": 2.5, "output": 10}
    models = [
        {"name": "scripted", "price": price, "context_window": 128_000, "capabilities": ["tools", "json_schema", "streaming"]},
        {"name": "scripted-mini", "price": {"input": 0.1, "output": 0.4}},
    ]  # fmt: skip
    return {
        "name": "acme",
        "base_url": url,
        "api_key": "sk-test",
        "models": models,
        "roles": {"general": "scripted"},
    }


def models() -> ScriptedModels:
    """The scripted models."""
    return ScriptedModels(RULES)


def seed(call: Any, *, models_url: str, shop_url: str, database: str) -> None:
    """Fill a server by its API: `call(method, path, body)`."""
    call("POST", "/api/v1/models", {"definition": provider(models_url)})
    call("POST", "/api/v1/connectors", {"openapi": SHOP % shop_url, "name": "shop"})
    call("PUT", "/api/v1/connectors/shop/credentials", {"values": {"key": "k-123"}})
    flights = {"url": f"sqlite:///{database}", "description": "Flights around a snow storm."}
    call("POST", "/api/v1/databases", {"name": "flights", "definition": flights})
    call(
        "POST",
        "/api/v1/knowledge-bases",
        {"name": "handbook", "definition": {"description": "Rules of the company"}},
    )
    for name, text in (("handbook.md", HANDBOOK), ("lunch.md", "# Lunch\n\nThe canteen is open from noon.")):
        call("POST", "/api/v1/knowledge-bases/handbook/documents", {"text": text, "name": name})
    call("POST", "/api/v1/skills", {"text": SKILL})
    call(
        "POST",
        "/api/v1/mcp-servers",
        {"name": "notes", "definition": {"url": f"{shop_url}/mcp", "description": "Notes of the team"}},
    )
    persona = {
        "name": "clerk",
        "description": "Looks after orders.",
        "instructions": "You look after orders.",
        "connector_ids": ["shop"],
    }
    call("POST", "/api/v1/agents", {"definition": persona})


def warm(url: str, key: str, call: Any) -> None:
    """One answer, waited for: the first one of a process also loads what finds tools."""
    session = call("POST", "/api/v1/sessions", {})["id"]
    asked = httpx2.post(
        f"{url}/api/v1/sessions/{session}/messages", json={"content": "hello"},
        headers={"authorization": f"Bearer {key}"}, timeout=180,
    )  # fmt: skip
    assert "event: message" in asked.text
    call("DELETE", f"/api/v1/sessions/{session}")
