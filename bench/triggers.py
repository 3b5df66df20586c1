"""From a trigger to the first node, through every way in; and how fast Prefect is told about runs."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import workloads
from bench.measure import Figures, Sample
from bench.results import Row, at_most
from bench.server import COMMAND, Client, environment, serving
from interlace.flows.link import PrefectLink
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings

SMALL = workloads.document(workloads.chain(3), "small")
SEED = {"seed": workloads.SEED}
_MIRRORED = 100


async def api(reps: int) -> list[Row]:
    """POST /api/v1/runs with a document, without Prefect and beside it."""
    rows = []
    for prefect, beside in (("off", "without Prefect"), ("embedded", "beside embedded Prefect")):
        async with serving(prefect) as home:
            client = Client.of(home)
            first: list[float] = []
            total = Figures()
            for turn in range(3 + 3 * reps):
                began, sent = time.perf_counter(), time.time()
                answer = client.post("/api/v1/runs?wait=30s", {"document": SMALL, "inputs": SEED})
                wall = (time.perf_counter() - began) * 1e3
                if answer["outputs"] != workloads.expected(workloads.chain(3)):
                    raise AssertionError(answer)
                if turn >= 3:
                    total.ours.append(Sample(wall, 0.0))
                    first.append((client.first_node(answer["run_id"]) - sent) * 1e3)
            pool = [] if prefect == "off" else _pool(client, 2 * reps)
            client.close()
        what = f"POST /api/v1/runs to the first node, {beside}"
        rows.append(at_most("trigger", what, statistics.median(first), 50, "ms"))
        rows.append(
            Row("", f"POST /api/v1/runs?wait to the outputs, 5 nodes, {beside}", total.wall, best=total.best)
        )
        rows += pool
    return rows


async def command(reps: int) -> list[Row]:
    """`interlace run` beside a running server, from the first byte that the server gets."""
    delays = []
    async with serving() as home, _watched(home) as posted:
        (home / "small.json").write_text(json.dumps(SMALL), "utf-8")
        for _ in range(2 + reps):
            process = await asyncio.create_subprocess_exec(
                *COMMAND, "run", "small.json", "-i", f"seed={workloads.SEED}", "--json",
                env=environment(home), cwd=home, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            output, _ = await process.communicate()
            report = json.loads(output)
            if report["status"] != "succeeded" or not posted:
                raise AssertionError(f"not run on the server: {report}")
            client = await asyncio.to_thread(Client.of, home)
            delays.append((await asyncio.to_thread(client.first_node, report["run_id"]) - posted.pop()) * 1e3)
            client.close()
    what = "interlace run on a running server, from the request's arrival to the first node"
    return [at_most("trigger", what, statistics.median(delays[2:]), 50, "ms")]


@asynccontextmanager
async def _watched(home: Path) -> AsyncIterator[list[float]]:
    """Puts a relay before the server that notes when a POST arrives."""
    file = home / "server.json"
    info = json.loads(file.read_text("utf-8"))
    port = int(info["url"].rpartition(":")[2])
    posted: list[float] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, *, inward: bool) -> None:
            while data := await source.read(65536):
                if inward and data.startswith(b"POST "):
                    posted.append(time.time())
                target.write(data)
                await target.drain()
            target.close()

        await asyncio.gather(
            copy(reader, inner_writer, inward=True), copy(inner_reader, writer, inward=False),
            return_exceptions=True,
        )  # fmt: skip

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    info["url"] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    file.write_text(json.dumps(info), "utf-8")
    try:
        yield posted
    finally:
        server.close()


async def prefect(reps: int) -> list[Row]:
    """How fast Prefect is told about runs."""
    del reps
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        platform = await Platform.open(Settings(home=Path(folder), prefect="embedded"))
        link = PrefectLink(platform)
        try:
            await link.start()
            if not await link.ready(1):
                raise AssertionError(f"Prefect did not start: {link.state()}")
            return await _mirror(platform, link)
        finally:
            await link.stop()
            await platform.close()


def _pool(client: Client, reps: int) -> list[Row]:
    pushed = client.post("/api/v1/workflows", {"document": SMALL, "publish": True})
    run = f"/api/v1/workflows/{pushed['id']}/run"
    if client.post(run, {"inputs": SEED, "via": "pool"}).get("via") != "pool":
        raise AssertionError("the work pool did not take the run")
    first, total = [], Figures()
    for turn in range(3 + reps):
        sent, began = time.time(), time.perf_counter()
        answer = client.post(f"{run}?wait=60s", {"inputs": SEED, "via": "pool"})
        wall = (time.perf_counter() - began) * 1e3
        if answer["outputs"] != workloads.expected(workloads.chain(3)):
            raise AssertionError(answer)
        if turn >= 3:
            total.ours.append(Sample(wall, 0.0))
            first.append((client.first_node(answer["run_id"]) - sent) * 1e3)
    what = "POST with via: pool, through Prefect's work pool to the first node"
    return [
        at_most("trigger", what, statistics.median(first), 300, "ms"),
        Row("", "the same to the outputs, 5 nodes", total.wall, best=total.best),
    ]


async def _mirror(platform: Platform, link: PrefectLink) -> list[Row]:
    pinned = await platform.documents.from_text(json.dumps(SMALL))
    await link.flush()
    began = time.perf_counter()
    started = [await platform.runner.start(pinned, Request(inputs=SEED)) for _ in range(_MIRRORED)]
    for run_id in started:
        await platform.runner.wait(run_id)
    ran = time.perf_counter() - began
    await link.flush()
    spent = time.perf_counter() - began
    what = f"{_MIRRORED} runs of 5 nodes until Prefect shows every flow run (running them took {ran * 1e3:.0f} ms of it)"
    return [Row("Prefect", what, _MIRRORED / spent, "runs/s")]


TRIGGERS: dict[str, Callable[[int], Awaitable[list[Row]]]] = {
    "api": api,
    "command": command,
    "prefect": prefect,
}
