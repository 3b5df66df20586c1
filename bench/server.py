"""A server of Interlace as a child process, and a bare client for it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from urllib.parse import urlsplit

_START_SECONDS = 60.0
_PREFECT_SECONDS = 180.0
COMMAND = (str(Path(sys.executable).with_name("interlace")),)


def environment(home: Path, prefect: str = "off") -> dict[str, str]:
    """The environment of a command on a home; byte code is kept, as it is for everybody who installs."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "INTERLACE_HOME": str(home), "INTERLACE_PREFECT": prefect, "DO_NOT_TRACK": "1"}


class Client:
    """One connection that stays open; it blocks, which costs the least."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._headers = {"authorization": f"Bearer {key}", "accept": "application/json"}

    @classmethod
    def of(cls, home: Path) -> Self:
        """The client of the server of a home."""
        info = json.loads((home / "server.json").read_text("utf-8"))
        return cls(info["url"], (home / "owner.key").read_text("ascii").strip())

    def get(self, path: str) -> Any:
        """The JSON at a path."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """What a request with this body is answered."""
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:
        headers = self._headers if body is None else {**self._headers, "content-type": "application/json"}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        data = json.loads(answer.read() or b"null")
        if answer.status >= 400 and not path.startswith("/health"):
            raise AssertionError(f"{method} {path}: {answer.status} {data}")
        return data

    def first_node(self, run_id: str) -> float:
        """When the journal saw the first node start, Unix time in seconds."""
        events = self.get(f"/api/v1/runs/{run_id}/events")["items"]
        return next(float(event["at"]) for event in events if event["type"] == "node.started")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@asynccontextmanager
async def serving(prefect: str = "off", more: Mapping[str, str] | None = None) -> AsyncIterator[Path]:
    """The home of a server that runs, with Prefect up where it is asked for; `more` are settings."""
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        home = Path(folder)
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "serve", "--port", "0",
            env={**environment(home, prefect), **(more or {})}, cwd=home,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await _until((home / "server.json").exists, process, _START_SECONDS)
            if prefect != "off":
                client = Client.of(home)
                await _until(lambda: _prefect_ready(client), process, _PREFECT_SECONDS)
                client.close()
            yield home
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def _prefect_ready(client: Client) -> bool:
    state = client.get("/health/ready")
    return bool(state["prefect"]["ready"])


async def _until(reached: Any, process: asyncio.subprocess.Process, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not reached():
        if process.returncode is not None:
            raise AssertionError(f"the server ended with {process.returncode}")
        if time.monotonic() > end:
            raise AssertionError(f"the server is not ready after {seconds:g} s")
        await asyncio.sleep(0.1)
