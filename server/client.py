"""Talks to the server of the same home, found through `server.json` and authenticated by `owner.key`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.problems import Problem
from interlace.flows.documents import Pinned
from interlace.flows.settings import Settings
from interlace.server.lock import is_held

SERVER_FILE, KEY_FILE = "server.json", "owner.key"
_PROBE_SECONDS = 5.0
_START_SECONDS = 20.0
"""A server that has just been started is waited for so long."""


class Unreachable(InterlaceError):  # noqa: N818 - the name says what it is
    """A server of this home runs, but does not answer."""

    code = "unreachable"


class Refused(InterlaceError):  # noqa: N818 - the name says what it is
    """The server refused a request; `code` is the problem's."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ServerClient:
    """The few calls that the command line makes to a running server."""

    def __init__(self, url: str, key: str) -> None:
        import httpx2  # noqa: PLC0415 - not for commands that find no server

        self.url = url
        self._http = httpx2.AsyncClient(
            base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=60.0, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def alive(self) -> bool:
        """Whether the server answers."""
        import httpx2  # noqa: PLC0415 - see above

        try:
            answer = await self._http.get("/health/live", timeout=_PROBE_SECONDS)
        except httpx2.HTTPError:
            return False
        return answer.status_code == httpx2.codes.OK

    async def start(
        self,
        pinned: Pinned,
        inputs: dict[str, Any],
        *,
        via: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Start a run, with `options` such as `test`, `pins` and `record`; gives the answer with its `run_id`.

        Raises:
            InvalidDocument: the server refused document or inputs.
            Unreachable: the server does not answer.
            Refused: anything else it refused.
        """
        body: dict[str, Any] = {"inputs": inputs, "via": via or "direct", **(options or {})}
        if pinned.workflow_id is not None:
            body["version"] = pinned.version
            return await self._post(f"/api/v1/workflows/{pinned.workflow_id}/run", body)
        return await self._post("/api/v1/runs", body | {"document": pinned.text, "folder": pinned.folder})

    async def replay(self, run_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Start a replay; gives the answer with its `run_id`. Raises as `start`."""
        return await self._post(f"/api/v1/runs/{run_id}/replay", body)

    async def ask(self, session_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask something in a session; gives `{session, question, answer, run_id}`. Raises as `start`."""
        return await self._post(f"/api/v1/sessions/{session_id}/messages", body, accept="application/json")

    async def cancel(self, run_id: str) -> None:
        """Cancel a run."""
        await self._post(f"/api/v1/runs/{run_id}/cancel", None)

    async def _post(self, path: str, body: Any, **headers: str) -> dict[str, Any]:
        import httpx2  # noqa: PLC0415 - not for commands that find no server

        try:
            answer = await self._http.post(path, json=body, headers=headers)
        except httpx2.HTTPError as error:
            raise Unreachable(
                f"the server at {self.url} does not answer: {str(error) or type(error).__name__}"
            ) from None
        data: dict[str, Any] = answer.json()
        if answer.is_success:
            return data
        if "problems" in data:
            raise InvalidDocument([Problem(**problem) for problem in data["problems"]])
        raise Refused(
            f"the server refused: {data.get('detail') or data.get('title')} ({answer.status_code})",
            str(data.get("code", "refused")),
        )


async def find_server(settings: Settings) -> ServerClient | None:
    """The running server of this home, None when there is none.

    Raises:
        Unreachable: one runs, but it does not answer.
    """
    home = settings.home.resolve()
    end = asyncio.get_running_loop().time() + _START_SECONDS
    while await asyncio.to_thread(is_held, home):
        found = await asyncio.to_thread(_read, home)
        if found is not None:
            client = ServerClient(*found)
            if await client.alive():
                return client
            await client.__aexit__(None, None, None)
            raise Unreachable(f"the server at {client.url} runs, but does not answer")
        if asyncio.get_running_loop().time() > end:
            raise Unreachable(f"a server of the home {str(home)!r} is starting and has not come up yet")
        await asyncio.sleep(0.1)
    return None


def _read(home: Path) -> tuple[str, str] | None:
    """Address and owner's key; None while the server has not written them yet."""
    try:
        info = orjson.loads((home / SERVER_FILE).read_bytes())
        return str(info["url"]), (home / KEY_FILE).read_text("ascii").strip()
    except (OSError, orjson.JSONDecodeError):
        return None


def served_at(home: Path) -> str:
    """` at http://…` of the server that runs, as far as it is known."""
    found = _read(home)
    return f" at {found[0]}" if found is not None else ""


def base_of(settings: Settings) -> str:
    """The address under which browsers reach the server of a home: as set, or where it runs, or would."""
    served = _read(settings.home.resolve())
    return settings.public_url or (
        served[0] if served is not None else f"http://{settings.host}:{settings.port}"
    )
