"""The tie to Prefect where a part of it fails; the real Prefect is in `tests/server/test_prefect.py`."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.prefect.host import Host
from interlace.flows.reconciler import Reconciler
from interlace.flows.request import POOL, Request
from interlace.flows.settings import Settings
from interlace.flows.shown import ShownRuns
from interlace.server.app import living
from tests.flows.conftest import Run
from tests.flows.documents import GREETING


class Broken:
    """A part of the link that fails at everything."""

    def __init__(self) -> None:
        self.asked = 0
        self.again = asyncio.Event()

    async def sweep(self) -> list[str]:
        self.asked += 1
        if self.asked > 1:
            self.again.set()
        raise RuntimeError("a fault")

    async def stop(self, **_options: Any) -> None:
        self.asked += 1
        raise RuntimeError("a fault")


async def test_comparing_goes_on_after_a_fault(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlace.flows.reconciler._SECONDS", 0.0)
    broken = Broken()
    task = asyncio.create_task(Reconciler(platform, None, lambda: [cast("Host", broken)]).run())
    async with asyncio.timeout(10):
        await broken.again.wait()
    assert not task.done()
    task.cancel()
    await asyncio.wait([task])


async def test_every_part_is_stopped_though_others_fail(platform: Platform) -> None:
    link = PrefectLink(platform)
    parts = [Broken(), Broken(), Broken()]
    link._host, link._mirror, link._embedded = cast("Any", parts)
    with pytest.raises(RuntimeError, match="a fault"):
        await link.stop()
    assert [part.asked for part in parts] == [1, 1, 1]


async def test_the_platform_closes_though_prefect_fails(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_link: PrefectLink) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(PrefectLink, "start", fail)
    monkeypatch.setattr(PrefectLink, "stop", fail)
    opened = []
    with pytest.raises(RuntimeError, match="a fault"):
        async with living(settings.model_copy(update={"prefect": "embedded"})) as app:
            opened.append(app.state.platform)
    assert opened[0].runner.closing


async def test_runs_of_the_pool_keep_no_other_from_being_shown(platform: Platform, run: Run) -> None:
    pinned = await platform.documents.from_text(GREETING)
    for number in range(3):
        request = Request(inputs={"name": "Ada"}, trigger={"kind": "api", **POOL})
        run_id, _ = await platform.runner.create(pinned, request)
        if number:
            assert await platform.runner.resume(await platform.store.runs.get(run_id))
            await platform.runner.wait(run_id, 20)
    result = await run(GREETING, {"name": "Bo"})
    shown = await ShownRuns(platform, nodes=False, logs=False).pending(1)
    assert [record.run_id for record in shown] == [result.run_id]
