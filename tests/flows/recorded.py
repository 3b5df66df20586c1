"""Recorded runs and their offline replays, as several tests need them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.request import Request
from interlace.flows.run_diff import diff_runs

RECORD = {"record": True}


@contextmanager
def tripwire() -> Iterator[list[Any]]:
    """No connection to another address is made while the block runs, by whatever way of Python's."""
    tried: list[Any] = []

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if armed and event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            address = arguments[1] if event != "socket.getaddrinfo" else arguments[0]
            if event == "socket.getaddrinfo" or isinstance(address, tuple):
                tried.append(address)
                raise OSError(f"the network is off: {event} {address}")

    armed = True
    sys.addaudithook(refuse)
    try:
        yield tried
    finally:
        armed = False


async def finish(platform: Platform, run_id: str) -> RunResult:
    """Wait until a run has ended."""
    result = await platform.runner.wait(run_id, 60)
    assert result is not None
    await platform.runner.idle()
    return result


async def record(
    platform: Platform, text: str, inputs: dict[str, Any] | None = None
) -> tuple[str, RunResult]:
    """Run a document and record it."""
    pinned = await platform.documents.from_text(text)
    run_id = await platform.runner.start(pinned, Request(inputs=inputs or {}, options=RECORD))
    return run_id, await finish(platform, run_id)


async def offline(platform: Platform, run_id: str, text: str | None = None) -> tuple[str, RunResult]:
    """Replay a run offline, with another document where one is given."""
    pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), "pinned")
    if text is not None:
        pinned = await platform.documents.from_text(text)
    plan = await plan_replay(platform.runner, run_id, pinned, Wish(offline=True))
    new = await start_replay(platform.runner, plan)
    return new, await finish(platform, new)


async def equal(platform: Platform, run_id: str, result: RunResult) -> str:
    """Replay offline; outputs are equal byte by byte, and nothing was reached."""
    with tripwire() as tried:
        new, again = await offline(platform, run_id)
    assert tried == []
    assert again.status == result.status, again.error
    assert json.dumps(again.outputs) == json.dumps(result.outputs)
    found = await diff_runs(platform.store, platform.documents, run_id, new)
    assert found["equal"], found
    return new
