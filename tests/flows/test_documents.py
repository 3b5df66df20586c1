"""Documents whose node types are not all installed any more, or whose text is broken."""

from __future__ import annotations

import sqlite3

import pytest

from interlace.engine.errors import InvalidDocument, StoreError
from interlace.engine.registry import Registry
from interlace.engine.run import RunResult
from interlace.flows.documents import Documents
from interlace.flows.node_types import node_types
from interlace.flows.platform import Platform
from interlace.flows.report import run_report
from interlace.flows.settings import Settings
from interlace.flows.shown import ShownRuns
from tests.flows.conftest import Run
from tests.flows.documents import chain, http, template
from tests.loopback import Loopback


def _without_http() -> Registry:
    every, fewer = node_types(), Registry()
    for kind in every:
        if kind != "HTTP":
            fewer.add(every[kind])
    return fewer


def _failing(loopback: Loopback, name: str) -> str:
    settings = {"on_failure": "handler"}
    return chain(http("call", f"{loopback.url}/status/404"), settings=settings, name=name)


async def _handler(platform: Platform) -> None:
    pinned = await platform.documents.from_text(chain(template("note", "x"), name="handler"))
    pushed = await platform.store.workflows.push("handler", pinned.text)
    await platform.store.workflows.publish(pushed.workflow_id)


async def _handled(platform: Platform) -> list[str]:
    page = await platform.store.runs.list()
    return [run.trigger["workflow"] for run in page.items if run.name == "handler"]


def _break(settings: Settings, run: RunResult) -> None:
    """Make the text of a run's document unreadable."""
    with sqlite3.connect(settings.home / "interlace.db") as database:
        database.execute(
            "UPDATE documents SET text = '{}' WHERE hash = (SELECT document_hash FROM runs WHERE id = ?)",
            (run.run_id,),
        )
    database.close()


async def test_a_run_is_read_without_its_node_types(platform: Platform, run: Run, loopback: Loopback) -> None:
    result = await run(_failing(loopback, "gone"))
    later = Platform(platform.settings, platform.store, _without_http())
    report = await run_report(later.store, later.documents, result.run_id)
    assert report["nodes"]["call"]["status"] == "failed"
    (shown,) = await ShownRuns(later, nodes=True, logs=True).pending(10)
    assert "call" in {node.path for node in shown.nodes}
    await _handler(platform)
    await later.follow_ups.catch_up()
    await later.runner.idle()
    assert await _handled(later) == ["gone"]
    key = (await later.store.runs.get(result.run_id)).document_hash
    with pytest.raises(InvalidDocument):
        await later.documents.from_hash(key)


async def test_one_that_cannot_be_read_stops_no_other(
    platform: Platform, run: Run, loopback: Loopback, settings: Settings
) -> None:
    await run(_failing(loopback, "older"))
    broken = await run(_failing(loopback, "broken"))
    _break(settings, broken)
    later = Platform(platform.settings, platform.store, platform.registry)
    key = (await later.store.runs.get(broken.run_id)).document_hash
    with pytest.raises(StoreError, match="cannot be read"):
        await later.documents.read(key)
    older, shown = await ShownRuns(later, nodes=True, logs=True).pending(10)
    assert (len(shown.nodes), shown.state) == (0, "failed")
    assert older.nodes
    await _handler(platform)
    await later.follow_ups.catch_up()
    await later.runner.idle()
    assert await _handled(later) == ["older"]


async def test_a_plan_that_is_used_again_is_kept(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlace.flows.documents._KEPT", 2)
    documents = Documents(platform.store, platform.registry)
    keys = []
    for text in ("a", "b", "c"):
        pinned = await documents.from_text(chain(template("t", text), name=text))
        await platform.store.workflows.push(text, pinned.text)
        keys.append(pinned.hash)
        first = await documents.from_hash(keys[0])
        assert first.plan is documents._plans[keys[0]]
    assert list(documents._plans) == [keys[2], keys[0]]
