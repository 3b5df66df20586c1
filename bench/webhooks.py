"""Webhook → TRANSFORM → END under 200 clients at once, beside a bare FastAPI endpoint that inserts a row.

Every delivery is durable before its 202, in one commit with its run; the endpoint commits its row before its answer too.
Both are a child process that serves, asked by the same bare client in turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from bench import results
from bench.results import Row
from bench.server import Client, serving

CLIENTS, REQUESTS = 200, 3000
_TARGET = 72.0
BODY = json.dumps(
    {"order": {"id": 17, "lines": [{"sku": "a", "count": 3}, {"sku": "b", "count": 1}]}}
).encode()
DOCUMENT = {
    "name": "hooked", "inputs": {"type": "object"}, "triggers": [{"type": "webhook"}],
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "shape", "type": "TRANSFORM", "config": {"input": "{{ inputs.order.lines }}", "steps": [{"pick": ["sku"]}]}},
        {"id": "done", "type": "END", "config": {"outputs": {"lines": "{{ shape.result }}"}}},
    ],
    "edges": ["start -> shape", "shape -> done"],
}  # fmt: skip
_BARE = """
import asyncio, sqlite3, sys
import uvicorn
from fastapi import FastAPI, Request

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("PRAGMA synchronous=NORMAL")
connection.execute("CREATE TABLE deliveries (id INTEGER PRIMARY KEY, body BLOB)")
app = FastAPI()

@app.post("/hook", status_code=202)
async def hook(request: Request) -> dict[str, int]:
    body = await request.body()
    return {"id": connection.execute("INSERT INTO deliveries (body) VALUES (?)", (body,)).lastrowid}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


@dataclass
class Load:
    """What clients saw: seconds of each request, and how many were not answered as they should be."""

    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    wall: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.wall

    def percentile(self, part: float) -> float:
        """Milliseconds within which so many of the requests were answered."""
        ordered = sorted(self.seconds)
        return ordered[min(int(part * len(ordered)), len(ordered) - 1)] * 1e3


async def load(url: str, requests: int) -> Load:
    """Send requests over 200 connections that stay open."""
    parts = urlsplit(url)
    head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
    message = f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY
    found, left = Load(), iter(range(requests))

    async def client() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in left:
            began = time.perf_counter()
            writer.write(message)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = next(
                line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length")
            )
            await reader.readexactly(int(length.partition(b":")[2]))
            found.seconds.append(time.perf_counter() - began)
            found.failures += not answer.startswith(b"HTTP/1.1 202")
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    found.wall = time.perf_counter() - began
    return found


@asynccontextmanager
async def bare() -> AsyncIterator[str]:
    """A FastAPI endpoint that inserts a row; gives its URL."""
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        port = await _free_port()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _BARE,
            str(Path(folder) / "bare.db"),
            str(port),
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            while not await _answers(port):
                if process.returncode is not None:
                    raise AssertionError("the bare endpoint did not start")
                await asyncio.sleep(0.05)
            yield f"http://127.0.0.1:{port}/hook"
        finally:
            process.kill()
            await process.wait()


async def _free_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def webhooks(reps: int) -> list[Row]:
    """Requests a second that are taken durably, and how long each waits for its answer."""
    async with serving() as home, bare() as limit:
        client = Client.of(home)
        client.post("/api/v1/workflows", {"document": DOCUMENT, "publish": True})
        hook = client.get("/api/v1/webhooks")["items"][0]
        client.close()
        ours: list[Load] = []
        ratios: list[float] = []
        sent = 0
        for turn in range(1 + max(3, reps // 3)):
            requests = REQUESTS if turn else CLIENTS
            other = await load(limit, requests)
            own = await load(hook["url"], requests)
            sent += requests
            if turn:
                ours.append(own)
                ratios.append(other.rate / own.rate)
        client = Client.of(home)
        await _check(client, hook["id"], sent)
        client.close()
    best = max(ours, key=lambda one: one.rate)
    rate, failures = statistics.median(one.rate for one in ours), sum(one.failures for one in ours)
    what = f"webhook → TRANSFORM → END, {CLIENTS} clients, {failures} failures; the limit is a bare FastAPI endpoint"
    met = rate >= _TARGET and failures == 0
    return [
        Row("webhook", what, rate, "requests/s", f"≥ {_TARGET:g} requests/s, 0 failures", met, best=best.rate,
            ratio=statistics.median(ratios)),
        Row("", "the answer of half of them within", statistics.median(one.percentile(0.5) for one in ours), "ms"),
        Row("", "the answer of 99 of 100 within", statistics.median(one.percentile(0.99) for one in ours), "ms"),
    ]  # fmt: skip


async def _check(client: Client, webhook: str, sent: int) -> None:
    """Every delivery has a run, and every run ended well."""
    runs, cursor, ended = 0, "", 0
    while True:
        page = client.get(f"/api/v1/webhooks/{webhook}/deliveries?limit=200{cursor}")
        runs += len({item["run_id"] for item in page["items"] if item["run_id"] is not None})
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    for _ in range(600):
        waiting = [
            client.get(f"/api/v1/runs?limit=1&status={status}")["items"]
            for status in ("queued", "running", "failed")
        ]
        if not any(waiting):
            ended = 1
            break
        await asyncio.sleep(0.1)
    if runs != sent or not ended:
        raise AssertionError(f"{sent} requests, {runs} runs, {waiting}")


WEBHOOKS = {"webhooks": webhooks}
_TEXT = """\
Written by `python -m bench.webhooks --write`: 200 clients with connections of their own send a request each time the one before was answered.
Server, clients and the bare endpoint share the processors. Every delivery, its raw body and its run are durable before the 202; the endpoint
that is the limit commits one row before its answer, and runs nothing."""


def main() -> None:
    """Measure and print; `--write` renews the section of RESULTS.md."""
    load_before = os.getloadavg()[0]
    rows = asyncio.run(webhooks(9))
    for row in rows:
        print("  ".join(text or "-" for text in results.cells(row)))
    if "--write" in sys.argv[1:]:
        results.write_section("Webhooks", _TEXT, rows, load_before)


if __name__ == "__main__":
    main()
