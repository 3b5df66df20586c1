"""Recorded runs that use models, connectors and stored databases, done again with all of these gone."""

from __future__ import annotations

import ast
import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.principal import LOCAL
from interlace.engine.protocols import Environment
from interlace.flows.platform import Platform
from interlace.flows.recording.boundaries import BOUNDARIES, INNER
from interlace.flows.settings import Settings
from interlace.resources.connectors.definition import Connector
from interlace.resources.databases.stored import KIND, DatabaseDefinition
from interlace.resources.http.testing import Received, Reply, Server, serve
from interlace.resources.models.testing import ScriptedModels
from interlace.resources.secrets import add_resource
from tests.flows.documents import chain
from tests.flows.recorded import equal, offline, record, tripwire
from tests.flows.waiting import answer, pending

ROOT = Path(__file__).parents[2]
PERSON = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}
ACTIONS = [
    {"name": "getOrder", "path": "/orders/{id}", "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]},
    {"name": "list", "path": "/list", "pagination": {"type": "page"}},
    {"name": "photo", "path": "/photo"},
    {"name": "pay", "method": "POST", "path": "/pay", "bodies": [{"schema": {"$ref": "#/$defs/Payment"}}], "requires_confirmation": True},
]  # fmt: skip
SCHEMAS = {"Payment": {"type": "object", "required": ["amount"]}, "Unused": {"type": "string"}}


def shop(request: Received) -> Reply:
    """An API whose answers differ from call to call."""
    shop.calls += 1  # type: ignore[attr-defined]
    if request.path == "/list":
        page = int(request.query.get("page", ["1"])[0])
        return Reply.of([page] if page < 3 else [])
    if request.path == "/photo":
        return Reply(200, b"\x89PNG\x00" * 5000, [("content-type", "image/png")])
    return Reply.of({"path": request.path, "call": shop.calls, "token": request.headers.get("authorization")})  # type: ignore[attr-defined]


shop.calls = 0  # type: ignore[attr-defined]


@pytest.fixture
async def api() -> AsyncIterator[Server]:
    async with serve(shop) as made:
        yield made


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    rules = [
        {"when": {"user": "How old"}, "reply": [{"data": {"age": 36}}]},
        {"reply": [{"text": "One, two, three.", "chunk_size": 4}, {"text": "Another answer."}]},
    ]
    with ScriptedModels(rules) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, models: ScriptedModels) -> Settings:
    roles = {"general": "scripted", "fast": "scripted-mini", "embedding": "scripted-embedding"}
    given = {
        "name": "p", "base_url": models.url, "models": [{"name": name} for name in models.script.models], "roles": roles,
        "retries": 0,
    }  # fmt: skip
    return Settings(
        home=tmp_path / "home", http_allow=["127.0.0.1/32"], database_allow=[str(tmp_path)], prefect="off",
        models={"providers": [given]},  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, total REAL)")
        connection.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 9.5), (2, 20.0)])
    connection.close()
    return path


async def add_connector(platform: Platform, url: str, **more: Any) -> None:
    made = {
        "name": "shop", "base_url": url, "actions": ACTIONS, "schemas": SCHEMAS,
        "auth": {"type": "bearer", "token": "s3cr3t-token"}, **more,
    }  # fmt: skip
    await platform.connectors.add(Connector.model_validate(made), by=LOCAL)


async def add_database(platform: Platform, file: Path, **more: Any) -> None:
    definition = DatabaseDefinition.model_validate({"url": f"sqlite:///{file}", **more})
    await add_resource(platform.store, platform.secrets, KIND, "shop", definition, by=LOCAL)


def node(name: str, kind: str, **config: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "config": config}


async def test_models_are_asked_once(platform: Platform, models: ScriptedModels) -> None:
    classes = [
        {"id": "yes", "name": "Yes", "examples": ["certainly"]},
        {"id": "no", "name": "No", "examples": ["never"]},
    ]
    text = chain(
        node("say", "LLM", prompt="Count", stream=True),
        node("again", "LLM", prompt="Count", stream=True),
        node("age", "PARAMETER_EXTRACTOR", input="How old? 36", schema=PERSON),
        node("near", "CLASSIFIER", input="certainly", classes=classes, mode="embedding"),
        outputs={"say": "{{ say }}", "again": "{{ again.text }}", "age": "{{ age.data }}", "near": "{{ near }}"},
    ).replace('"from": "near"', '"handle": "yes", "from": "near"')  # fmt: skip
    run_id, result = await record(platform, text)
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert (result.outputs["say"]["text"], result.outputs["again"]) == ("One, two, three.", "Another answer.")
    asked = len(models.requests)
    spent = await platform.store.usage.totals(["installation"], since=0)
    assert sum(total.calls for total in spent) == asked
    new = await equal(platform, run_id, result)
    assert len(models.requests) == asked
    deltas = [
        e.data for e in await platform.store.events.read(new) if e.type == "node.delta" and e.path == "say"
    ]
    assert deltas == [{"text": "One, two, three."}]
    assert await platform.store.usage.totals(["installation"], since=0) == spent


async def test_another_question_is_a_mismatch(platform: Platform) -> None:
    def asking(prompt: str) -> str:
        return chain(node("say", "LLM", prompt=prompt), outputs={"say": "{{ say.text }}"})

    run_id, result = await record(platform, asking("Count"))
    assert result.status == "succeeded", result.error
    with tripwire() as tried:
        _, again = await offline(platform, run_id, asking("Count down"))
    assert tried == []
    assert again.error is not None
    assert again.error["type"] == "record_mismatch"
    assert "messages[0].content was" in again.error["message"]
    assert "Count down" in again.error["message"]


async def test_a_connector_is_called_once(platform: Platform, api: Server) -> None:
    await add_connector(platform, api.url)
    text = chain(
        node("order", "CONNECTOR", connector="shop", action="getOrder", parameters={"id": 7}),
        node("pages", "CONNECTOR", connector="shop", action="list", paginate=True),
        node("photo", "CONNECTOR", connector="shop", action="photo"),
        outputs={"order": "{{ order }}", "pages": "{{ pages }}", "photo": "{{ photo.body }}"},
    )  # fmt: skip
    run_id, result = await record(platform, text)
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert result.outputs["pages"]["body"] == [1, 2]
    sent = len(api.requests)
    events = await platform.store.events.read(run_id)
    kept = [e.data["service"] for e in events if e.type == "call.recorded" and e.path == "pages"]
    assert set(kept) == {"connector", "connector.call"}
    assert kept.count("connector.call") == 1
    assert "s3cr3t-token" not in repr(events)
    await platform.connectors.remove("shop", by=LOCAL)
    new = await equal(platform, run_id, result)
    assert len(api.requests) == sent
    # The file that came is the replay's too.
    await platform.store.runs.delete(run_id)
    content = await platform.store.files.load(result.outputs["photo"]["ref"])
    assert content.startswith(b"\x89PNG")
    await equal(platform, new, result)


async def test_other_parameters_and_errors_of_an_api(platform: Platform, api: Server) -> None:
    def ordering(number: int) -> str:
        order = node("order", "CONNECTOR", connector="shop", action="getOrder", parameters={"id": number})
        wrong = node("wrong", "CONNECTOR", connector="shop", action="getOrdr") | {"on_error": "continue"}
        gone = node("gone", "CONNECTOR", connector="shp", action="getOrder") | {"on_error": "continue"}
        outputs = {"order": "{{ order.body }}", "wrong": "{{ wrong.error }}", "gone": "{{ gone.error }}"}
        return chain(order, wrong, gone, outputs=outputs)

    await add_connector(platform, api.url)
    run_id, result = await record(platform, ordering(7))
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert [result.outputs[name]["type"] for name in ("wrong", "gone")] == [
        "unknown_action",
        "resource_not_found",
    ]
    await add_connector(platform, api.url, name="shp")  # what was missing then is missing in the replay
    await equal(platform, run_id, result)
    _, again = await offline(platform, run_id, ordering(8))
    assert again.error is not None
    assert (again.error["type"], again.error["node"]) == ("record_mismatch", "order")
    assert "parameters.id was 7 and is 8 now" in again.error["message"]


async def test_a_confirmed_call_is_confirmed_again(platform: Platform, api: Server) -> None:
    await add_connector(platform, api.url, confirmation="always")
    pay = node("pay", "CONNECTOR", connector="shop", action="pay", parameters={"body": {"amount": 5}})
    pinned = await platform.documents.from_text(chain(pay, outputs={"paid": "{{ pay.body }}"}))
    from interlace.flows.request import Request

    run_id = await platform.runner.start(pinned, Request(options={"record": True}))
    await platform.runner.turn(run_id)
    await answer(platform, (await pending(platform, run_id))[0])
    result = await platform.runner.wait(run_id, 30)
    assert result is not None
    assert result.status == "succeeded", result.error
    await platform.connectors.remove("shop", by=LOCAL)
    sent = len(api.requests)
    await equal(platform, run_id, result)
    assert len(api.requests) == sent


async def test_a_stored_database_is_opened_once(platform: Platform, file: Path) -> None:
    await add_database(platform, file, allow_writes=True, hidden_columns={"orders": ["secret"]}, max_rows=1)
    text = chain(
        node("rows", "DATABASE", connector="shop", sql="SELECT id, total FROM orders ORDER BY id"),
        node("more", "DATABASE", connector="shop", operation="insert_many", table="orders", rows=[{"id": 3, "total": 1}]),
        node("secret", "DATABASE", connector="shop", sql="SELECT secret FROM orders") | {"on_error": "continue"},
        outputs={"rows": "{{ rows }}", "more": "{{ more.row_count }}", "secret": "{{ secret.error }}"},
    )  # fmt: skip
    run_id, result = await record(platform, text)
    assert result.status == "succeeded", result.error
    assert result.outputs is not None
    assert (result.outputs["rows"]["row_count"], result.outputs["rows"]["truncated"]) == (1, True)
    assert result.outputs["secret"]["type"] == "sql_refused"
    found = await platform.store.resources.find(KIND, "shop", by=LOCAL)
    await platform.store.resources.remove(found.id, by=LOCAL)
    await asyncio.to_thread(file.unlink)
    await equal(platform, run_id, result)
    changed = text.replace("ORDER BY id", "ORDER BY total")
    _, again = await offline(platform, run_id, changed)
    assert again.error is not None
    assert (again.error["type"], again.error["node"]) == ("record_mismatch", "rows")


def test_every_service_has_a_boundary_or_is_said_to_need_none(platform_services: frozenset[Any]) -> None:
    """A service that is forgotten would be reached by offline runs of nobody's choosing, or refused to all of them."""
    known = set(BOUNDARIES) | set(INNER)
    missing = [service.__name__ for service in platform_services - known]
    assert not missing, f"give {missing} a wrapper in flows/recording/boundaries.py, or name them in INNER"
    assert not set(BOUNDARIES) & set(INNER)


@pytest.fixture
async def platform_services(platform: Platform) -> frozenset[Any]:
    return platform.services.offered()


def test_no_node_asks_for_an_inner_service() -> None:
    refused = {service.__name__ for service in INNER if service is not Environment}
    asked = {
        call.args[0].id
        for folder in ("nodes", "agents/loop")
        for path in (ROOT / folder).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "service"
        and call.args
        and isinstance(call.args[0], ast.Name)
    }
    assert {"HttpClient", "ChatModel", "Databases"} <= asked
    assert not asked & refused
