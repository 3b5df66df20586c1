"""The CONNECTOR node in runs of a platform: outputs, errors, secrets out of sight, confirmations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.connectors.definition import Connector
from interlace.resources.http.testing import Received, Reply, Server, serve
from tests.flows.waiting import answer, pending
from tests.nodes.runs import check

ACTIONS = [
    {"name": "getOrder", "path": "/orders/{order_id}", "parameters": [{"name": "order_id", "in": "path", "required": True, "schema": {"type": "integer"}}]},
    {"name": "put", "method": "PUT", "path": "/put"},
    {"name": "list", "path": "/list", "pagination": {"type": "page"}},
    {"name": "pay", "method": "POST", "path": "/pay", "bodies": [{"schema": {"type": "object", "required": ["amount"]}}], "requires_confirmation": True},
]  # fmt: skip


def shop(request: Received) -> Reply:
    if request.path == "/list":
        page = int(request.query.get("page", ["1"])[0])
        return Reply.of([page] if page < 3 else [])
    if request.path == "/orders/404":
        return Reply(404, b"no such order")
    return Reply.of(
        {
            "path": request.path,
            "token": request.headers.get("authorization"),
            "sent": json.loads(request.body or b"null"),
        }
    )


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serve(shop) as made:
        yield made


@pytest.fixture
async def platform(tmp_path: Path, server: Server) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off"))
    made = {
        "name": "shop",
        "base_url": server.url,
        "actions": ACTIONS,
        "auth": {"type": "bearer", "token": "s3cr3t-token"},
    }
    await opened.connectors.add(Connector.model_validate(made), by=LOCAL)
    always = {**made, "name": "bank", "confirmation": "always"}
    await opened.connectors.add(Connector.model_validate(always), by=LOCAL)
    yield opened
    await opened.close()


def document(config: dict[str, Any], **node: Any) -> str:
    nodes = [
        {"id": "start", "type": "START"},
        {"id": "call", "type": "CONNECTOR", "config": config, **node},
        {
            "id": "done",
            "type": "END",
            "config": {"outputs": {"status": "{{ call.status_code }}", "body": "{{ call.body }}"}},
        },
    ]
    inputs = {"type": "object", "properties": {"id": {"type": "integer", "default": 7}}}
    return json.dumps(
        {"name": "t", "inputs": inputs, "nodes": nodes, "edges": ["start -> call", "call -> done"]}
    )


async def run(platform: Platform, config: dict[str, Any], **node: Any) -> Any:
    run_id = await platform.runner.start(
        await platform.documents.from_text(document(config, **node)), Request()
    )
    return run_id, await platform.runner.wait(run_id)


async def test_an_action_is_called_and_its_secret_stays_out_of_the_record(
    platform: Platform, server: Server
) -> None:
    run_id, result = await run(
        platform, {"connector": "shop", "action": "getOrder", "parameters": {"order_id": "{{ inputs.id }}"}}
    )
    assert result.status == "succeeded", result.error
    assert server.requests[-1].headers["authorization"] == "Bearer s3cr3t-token"
    assert (result.outputs["status"], result.outputs["body"]["path"]) == (200, "/orders/7")
    events = await platform.store.events.read(run_id)
    assert "s3cr3t-token" not in repr(events)


@pytest.mark.parametrize(
    ("connector", "action", "more", "effects"),
    [
        ("shop", "list", {}, "none"),
        ("shop", "put", {}, "idempotent"),
        ("shop", "pay", {}, "once"),
        ("shop", "pay", {"effects": "idempotent"}, "idempotent"),
        ("shp", "list", {}, "once"),
    ],
)
async def test_effects_are_those_of_the_method(
    platform: Platform, connector: str, action: str, more: dict[str, Any], effects: str
) -> None:
    run_id, _ = await run(platform, {"connector": connector, "action": action}, **more)
    events = await platform.store.events.read(run_id)
    assert [e.data["effects"] for e in events if e.type == "node.started" and e.path == "call"] == [effects]


@pytest.mark.parametrize(
    ("config", "kind", "words"),
    [
        (
            {"connector": "shop", "action": "getOrder", "parameters": {"order_id": 404}},
            "http_404",
            "no such order",
        ),
        ({"connector": "shop", "action": "getOrders"}, "unknown_action", "did you mean 'getOrder'?"),
        (
            {"connector": "shop", "action": "getOrder", "parameters": {"orderid": 1}},
            "bad_parameter",
            "Did you mean 'order_id'?",
        ),
        ({"connector": "shp", "action": "x"}, "resource_not_found", "interlace connectors list"),
    ],
)
async def test_errors_have_their_kind(
    platform: Platform, config: dict[str, Any], kind: str, words: str
) -> None:
    _, result = await run(platform, config)
    assert result.error is not None
    assert (result.status, result.error["type"]) == ("failed", kind)
    assert words in result.error["message"]


async def test_pages_by_the_actions_own_rule(platform: Platform) -> None:
    _, result = await run(platform, {"connector": "shop", "action": "list", "paginate": True})
    assert result.outputs["body"] == [1, 2]


async def test_a_document_confirms_by_being_published(platform: Platform, server: Server) -> None:
    _, result = await run(
        platform, {"connector": "shop", "action": "pay", "parameters": {"body": {"amount": 5}}}
    )
    assert result.status == "succeeded", result.error
    assert server.requests[-1].headers["idempotency-key"]


@pytest.mark.parametrize("choice", ["approve", "reject"])
async def test_a_connector_may_always_ask(platform: Platform, server: Server, choice: str) -> None:
    config = {"connector": "bank", "action": "pay", "parameters": {"body": {"amount": 5}}}
    run_id = await platform.runner.start(await platform.documents.from_text(document(config)), Request())
    await platform.runner.turn(run_id)
    (wait,) = await pending(platform, run_id)
    assert server.requests == []
    assert wait.request["config"]["parameters"] == {"body": {"amount": 5}}
    await answer(platform, wait, choice)
    result = await platform.runner.wait(run_id)
    if choice == "approve":
        assert (result.status, [r.json() for r in server.requests]) == ("succeeded", [{"amount": 5}])
    else:
        assert result.error is not None
        assert (result.error["type"], server.requests) == ("not_confirmed", [])


async def test_who_confirmed_the_node_is_not_asked_again(platform: Platform, server: Server) -> None:
    config = {"connector": "bank", "action": "pay", "parameters": {"body": {"amount": 5}}}
    run_id = await platform.runner.start(
        await platform.documents.from_text(document(config, confirm=True)), Request()
    )
    await platform.runner.turn(run_id)
    (wait,) = await pending(platform, run_id)
    assert wait.phase == "confirm"
    await answer(platform, wait, "approve")
    assert (await platform.runner.wait(run_id)).status == "succeeded"
    assert len(server.requests) == 1


async def test_what_was_confirmed_is_what_is_called(platform: Platform, server: Server) -> None:
    config = {"connector": "bank", "action": "pay", "parameters": {"body": {"amount": 5}}}
    run_id = await platform.runner.start(await platform.documents.from_text(document(config)), Request())
    await platform.runner.turn(run_id)
    (wait,) = await pending(platform, run_id)
    _, loaded = await platform.connectors.find("bank", by=LOCAL)
    moved = [
        a.model_copy(update={"path": "/steal"}) if a.name == "pay" else a for a in loaded.connector.actions
    ]
    await platform.connectors.update("bank", loaded.connector.model_copy(update={"actions": moved}), by=LOCAL)
    await answer(platform, wait, "approve")
    result = await platform.runner.wait(run_id)
    assert result.error is not None
    assert (result.error["type"], server.requests) == ("not_confirmed", [])


def test_names_are_fixed() -> None:
    found = check("CONNECTOR", {"connector": "{{ inputs.x }}", "action": "a"})
    assert [(f.code, f.field) for f in found] == [("fixed_name", "config.connector")]
