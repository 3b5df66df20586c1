"""The least that the same work can cost: plain asyncio, and asyncio with a SQLite row committed twice a node."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

from bench.workloads import ITEMS, SEED, Graph, ends, value_of

Body = Callable[[str, list[str]], Awaitable[str]]


class Rows:
    """One row a run and one a node, written when it starts and again when it ends, a commit each."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, state TEXT, at REAL)")
        self._connection.execute(
            "CREATE TABLE nodes (run INTEGER, id TEXT, state TEXT, output TEXT, started REAL, ended REAL,"
            " PRIMARY KEY (run, id)) WITHOUT ROWID"
        )

    def begin(self) -> int:
        made = self._connection.execute("INSERT INTO runs (state, at) VALUES ('running', ?)", (time.time(),))
        assert made.lastrowid is not None
        return made.lastrowid

    def node_started(self, run: int, node: str) -> None:
        self._connection.execute(
            "INSERT INTO nodes VALUES (?, ?, 'running', NULL, ?, NULL)", (run, node, time.time())
        )

    def node_ended(self, run: int, node: str, output: str) -> None:
        values = (json.dumps(output), time.time(), run, node)
        self._connection.execute(
            "UPDATE nodes SET state = 'succeeded', output = ?, ended = ? WHERE run = ? AND id = ?", values
        )

    def end(self, run: int) -> None:
        self._connection.execute("UPDATE runs SET state = 'succeeded' WHERE id = ?", (run,))

    def close(self) -> None:
        self._connection.close()


async def trivial(node: str, read: list[str]) -> str:
    """The body of a trivial node."""
    return value_of(node, read)


async def passed_on(node: str, read: list[str]) -> str:
    """A node that hands its value on."""
    del node
    return read[0]


class GraphRun:
    """A task for each node, started when everything it reads is there."""

    def __init__(self, graph: Graph, body: Body = trivial, rows: Rows | None = None) -> None:
        self._graph = graph
        self._body = body
        self._rows = rows
        self._ends = ends(graph)
        self._readers: dict[str, list[str]] = {}
        for node, sources in graph.items():
            for source in sources:
                self._readers.setdefault(source, []).append(node)

    async def run(self, seed: str = SEED) -> dict[str, str]:
        """The values of the end nodes."""
        values = {"start": seed}
        missing = {node: len(sources) for node, sources in self._graph.items()}
        number = self._rows.begin() if self._rows is not None else 0

        async def work(node: str) -> None:
            if self._rows is not None:
                self._rows.node_started(number, node)
            values[node] = await self._body(node, [values[source] for source in self._graph[node]])
            if self._rows is not None:
                self._rows.node_ended(number, node, values[node])
            follow(node)

        def follow(node: str) -> None:
            for reader in self._readers.get(node, ()):
                missing[reader] -= 1
                if missing[reader] == 0:
                    group.create_task(work(reader))

        async with asyncio.TaskGroup() as group:
            follow("start")
        if self._rows is not None:
            self._rows.end(number)
        return {node: values[node] for node in self._ends}


async def iterate() -> list[str]:
    """Every item through the trivial body, ten at a time."""
    slots = asyncio.Semaphore(10)

    async def one(item: str) -> str:
        async with slots:
            return await trivial("!", [item])

    return await asyncio.gather(*map(one, ITEMS))


class Requests:
    """GET requests over connections that stay open, as bare as a client can be."""

    def __init__(self, url: str, count: int, at_once: int) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._host, self._port = parts.hostname, parts.port
        self._count, self._at_once = count, at_once
        self._open: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def run(self) -> list[bool]:
        """The answers in order."""
        slots = asyncio.Semaphore(self._at_once)

        async def one(number: int) -> bool:
            async with slots:
                return await self._get(f"/n{number}")

        return await asyncio.gather(*map(one, range(self._count)))

    async def _get(self, path: str) -> bool:
        reader, writer = (
            self._open.pop() if self._open else await asyncio.open_connection(self._host, self._port)
        )
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        body = json.loads(await reader.readexactly(length))
        self._open.append((reader, writer))
        return bool(body["ok"])

    def close(self) -> None:
        for _, writer in self._open:
            writer.close()


def walk(text: str) -> int:
    """Read a document's JSON, look for doubled ids, unknown types and cycles; gives the number of nodes."""
    data = json.loads(text)
    waiting: dict[str, int] = {}
    for node in data["nodes"]:
        if node["id"] in waiting or node["type"] not in ("START", "END", "TEMPLATE"):
            raise ValueError(node["id"])
        waiting[node["id"]] = 0
    readers: dict[str, list[str]] = {}
    for edge in data["edges"]:
        waiting[edge["to"]] += 1
        readers.setdefault(edge["from"], []).append(edge["to"])
    ready = [node for node, count in waiting.items() if count == 0]
    seen = 0
    while ready:
        seen += 1
        for reader in readers.get(ready.pop(), ()):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)
    if seen != len(waiting):
        raise ValueError("cycle")
    return seen
