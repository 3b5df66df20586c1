"""The server dies under a load of requests: what it acknowledged has its run afterwards, each delivery one."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import httpx2

from tests.server.command import Command
from tests.server.hooks import hook_flow

NODE = {"type": "TEMPLATE", "config": {"template": "{{ inputs.n }}"}}
_CLIENTS = 16


async def _load(url: str, path: str, acknowledged: dict[str, int], enough: int) -> None:
    """Send numbered requests until the server is gone; `acknowledged` is what it took, by delivery."""
    numbers = iter(range(1_000_000))
    killed = asyncio.Event()

    async def client(http: httpx2.AsyncClient) -> None:
        while not killed.is_set():
            number = next(numbers)
            try:
                answer = await http.post(f"{url}{path}", json={"n": number}, headers={"x-id": str(number)})
            except httpx2.HTTPError:
                return
            assert answer.status_code == 202, answer.text
            acknowledged[answer.json()["delivery"]] = number
            if len(acknowledged) >= enough:
                killed.set()

    async with httpx2.AsyncClient(timeout=30) as http:
        await asyncio.gather(*(client(http) for _ in range(_CLIENTS)))


async def _all(http: httpx2.AsyncClient, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = (await http.get(path, params={"limit": 200, **({"cursor": cursor} if cursor else {})})).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def test_nothing_that_was_acknowledged_is_lost(command: Command) -> None:
    process, url = await asyncio.to_thread(command.serve)
    document = hook_flow(
        {"idempotency": {"header": "X-Id"}}, node=NODE, end={"outputs": {"n": "{{ step.text }}"}}
    )
    keys = {"authorization": f"Bearer {command.key}"}
    async with httpx2.AsyncClient(base_url=url, headers=keys, timeout=30) as http:
        await http.post("/api/v1/workflows", json={"document": document, "publish": True})
        hook = (await http.get("/api/v1/webhooks")).json()["items"][0]
    acknowledged: dict[str, int] = {}
    for kill in range(2):
        load = asyncio.create_task(_load(url, hook["path"], acknowledged, 150 * (kill + 1)))
        while len(acknowledged) < 100 * (kill + 1) + 50 * kill:  # noqa: ASYNC110 - another process counts
            await asyncio.sleep(0.005)
        command.kill(process)
        await load
        await asyncio.to_thread(process.wait)
        process, url = await asyncio.to_thread(command.serve)
    async with httpx2.AsyncClient(base_url=url, headers=keys, timeout=30) as http:
        deliveries = {one["id"]: one for one in await _all(http, f"/api/v1/webhooks/{hook['id']}/deliveries")}
        assert set(acknowledged) <= set(deliveries)
        async with asyncio.timeout(60):
            while True:
                runs = {run["id"]: run for run in await _all(http, "/api/v1/runs")}
                if {run["status"] for run in runs.values()} == {"succeeded"}:
                    break
                await asyncio.sleep(0.1)
        assert set(Counter(one["run_id"] for one in deliveries.values()).values()) == {1}
        assert {one["run_id"] for one in deliveries.values()} == set(runs)
        for delivery, number in list(acknowledged.items())[::20]:
            run = (await http.get(f"/api/v1/runs/{deliveries[delivery]['run_id']}")).json()
            assert run["outputs"] == {"n": json.dumps(number)}
