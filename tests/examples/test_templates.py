"""Every template validates without a word and runs: what people start from works before they change anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.source import load_file
from interlace.flows.callees import check_with_callees
from interlace.flows.node_types import node_types
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.http.testing import Received, Reply, serve
from interlace.resources.models.testing import ScriptedModels

FOLDER = Path(__file__).parents[2] / "examples" / "templates"
FILES = sorted(FOLDER.glob("*.yaml"))
GROUPS = {"basics", "people", "data", "connect", "ai"}


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    def sorted_as(name: str) -> dict[str, Any]:
        return {"data": {"id": name, "confidence": 0.9, "reason": "because"}}

    product = {"tool_calls": [{"name": "calculator", "arguments": {"expression": "6*7"}}]}
    rules: list[dict[str, Any]] = [
        {"when": {"user": "broken"}, "reply": sorted_as("complaint")},
        {"when": {"user": "open", "system": "answer customers"}, "reply": "We open at nine."},
        {"when": {"user": "open"}, "reply": sorted_as("question")},
        {"when": {"user": "ACME"}, "reply": {"data": {"vendor": "ACME", "amount": 12.5, "due": None}}},
        {"when": {"user": "nobody"}, "reply": {"data": {"vendor": None, "amount": None, "due": None}}},
        {"when": {"user": "6 times 7"}, "reply": [product, "It is 42."]},
        {"when": {"user": "hello"}, "reply": "Hello to you."},
    ]
    with ScriptedModels(rules) as server:
        yield server


@pytest.fixture
async def platform(tmp_path: Path, models: ScriptedModels) -> AsyncIterator[Platform]:
    provider = {
        "name": "main", "base_url": models.url,
        "models": [{"name": "scripted", "capabilities": ["tools", "streaming", "json_schema"]}],
    }  # fmt: skip
    settings = Settings(
        home=tmp_path / "home", prefect="off", http_allow=["127.0.0.1/32"], models={"providers": [provider]}
    )
    opened = await Platform.open(settings)
    yield opened
    await opened.close()


async def run(platform: Platform, name: str, inputs: dict[str, Any]) -> Any:
    pinned = await platform.documents.from_file(FOLDER / f"{name}.yaml")
    started = await platform.runner.start(pinned, Request(inputs=inputs))
    result = await platform.runner.wait(started, 60)
    assert result is not None
    assert result.error is None, result.error
    return result


def test_there_are_at_least_twelve_of_several_groups() -> None:
    assert len(FILES) >= 12
    about = [load_file(path).require().ui.model_extra["template"] for path in FILES]  # type: ignore[index]
    assert {one["group"] for one in about} == GROUPS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_it_validates(path: Path) -> None:
    source = load_file(path)
    found = await check_with_callees(source, node_types(), store=None, folder=str(FOLDER))
    assert found.problems == ()
    assert source.require().description


async def test_greeting(platform: Platform) -> None:
    assert (await run(platform, "greeting", {"name": "Ada", "times": 2})).outputs == {
        "greeting": "Hello Ada! Hello Ada!"
    }


async def test_invoice_approval(platform: Platform) -> None:
    small = await run(platform, "invoice_approval", {"amount": 10, "vendor": "ACME"})
    assert small.outputs == {"approved": True, "by": "nobody: below the limit"}
    large = await run(platform, "invoice_approval", {"amount": 5000, "vendor": "ACME"})
    assert large.status == "suspended"


async def test_csv_summary(platform: Platform) -> None:
    text = "region,amount\nnorth,10\nsouth,5\nnorth,2.5\n"
    outputs = (await run(platform, "csv_summary", {"csv": text})).outputs
    assert outputs["groups"] == 2
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in outputs["table"].splitlines()]
    assert rows[0] == ["group", "rows", "total"]
    assert rows[2:] == [["north", "2", "12.5"], ["south", "1", "5"]] or rows[2:] == [
        ["north", "2", "12.5"],
        ["south", "1", "5.0"],
    ]


async def test_document_facts(platform: Platform) -> None:
    files = platform.store.files.of_owner("local")
    file = await files.save(b"# Title\n\nA few words.\n", name="note.md", media_type="text/markdown")
    outputs = (await run(platform, "document_facts", {"file": asdict(file)})).outputs
    assert "A few words." in outputs["text"]
    assert outputs["summary"].startswith("note.md: ")


async def test_api_pages(platform: Platform) -> None:
    async def answer(asked: Received) -> Reply:
        if asked.path != "/list":
            return Reply.of({}, 404)
        second = "cursor=b" in asked.target
        items = [{"status": "done"}] if second else [{"status": "open"}, {"status": "open"}]
        return Reply.of({"items": items, "next_cursor": None if second else "b"})

    async with serve(answer) as server:
        outputs = (await run(platform, "api_pages", {"url": f"{server.url}/list"})).outputs
        gone = (await run(platform, "api_pages", {"url": f"{server.url}/nothing"})).outputs
    assert outputs == {"counts": [{"value": "open", "count": 2}, {"value": "done", "count": 1}], "pages": 2}
    assert "404" in gone["problem"]


async def test_parallel_batch(platform: Platform) -> None:
    orders = [{"id": "a", "price": 2, "quantity": 3}, {"id": "b", "price": 1, "quantity": 4}]
    outputs = (await run(platform, "parallel_batch", {"orders": orders})).outputs
    assert outputs["total"] == 10
    assert [order["total"] for order in outputs["orders"]] == [6, 4]
    assert outputs["failed"] == []


async def test_wait_until_ready(platform: Platform) -> None:
    asked: list[str] = []

    async def answer(request: Received) -> Reply:
        asked.append(request.path)
        return Reply.of({"status": "done" if len(asked) > 1 else "working"})

    async with serve(answer) as server, platform.waits.watching():
        outputs = (await run(platform, "wait_until_ready", {"url": f"{server.url}/job"})).outputs
    assert outputs == {"status": "done", "rounds": 2}


async def test_webhook_orders(platform: Platform) -> None:
    good = await run(platform, "webhook_orders", {"id": "A1", "lines": [{"sku": "x"}]})
    assert (good.response["status"], good.outputs["lines"]) == (200, 1)
    bad = await run(platform, "webhook_orders", {"id": "A1"})
    assert bad.response["status"] == 422


async def test_weekday_report(platform: Platform) -> None:
    assert (await run(platform, "weekday_report", {})).outputs["report"] == "Attention: 66 is above 60."
    assert (await run(platform, "weekday_report", {"values": [1]})).outputs["report"] == "All is well: 1."


async def test_python_statistics(platform: Platform) -> None:
    status = await platform.sandbox.check()
    if not status.available:
        pytest.skip(f"no sandbox for CODE nodes: {status.reason}")
    numbers = [10, 11, 9, 10, 10, 11, 9, 50]
    assert (await run(platform, "python_statistics", {"numbers": numbers})).outputs == {
        "mean": 15.0,
        "outliers": [50],
    }


async def test_support_triage(platform: Platform) -> None:
    asked = await run(platform, "support_triage", {"message": "When are you open?"})
    assert asked.outputs == {"kind": "question", "answer": "We open at nine."}
    assert (await run(platform, "support_triage", {"message": "It is broken!"})).status == "suspended"


async def test_read_fields(platform: Platform) -> None:
    assert (await run(platform, "read_fields", {"text": "ACME wants 12.5"})).outputs == {
        "fields": {"vendor": "ACME", "amount": 12.5}
    }
    assert (await run(platform, "read_fields", {"text": "from nobody"})).outputs == {
        "missing": ["vendor", "amount"]
    }


async def test_agent_task(platform: Platform) -> None:
    assert (await run(platform, "agent_task", {"task": "What is 6 times 7?"})).outputs == {
        "answer": "It is 42."
    }


async def test_chat_assistant(platform: Platform) -> None:
    assert (await run(platform, "chat_assistant", {"message": "hello"})).outputs == {
        "answer": "Hello to you."
    }
