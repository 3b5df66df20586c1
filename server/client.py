"""Talks to the server of the same home, found through `server.json` and authenticated by `owner.key`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.problems import Problem
from interlace.flows.documents import Pinned
from interlace.flows.settings import Settings

if TYPE_CHECKING:
    import httpx2

SERVER_FILE, KEY_FILE = "server.json", "owner.key"
_PROBE_SECONDS = 2.0


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
        return answer.status_code == 200  # noqa: PLR2004 - OK

    async def start(self, pinned: Pinned, inputs: dict[str, Any], *, version: str = "published") -> str:
        """Start a run and give its id.

        Raises:
            InvalidDocument: the server refused document or inputs.
            InterlaceError: anything else it refused.
        """
        body: dict[str, Any] = {"inputs": inputs}
        if pinned.workflow_id is not None:
            body["version"] = pinned.version if pinned.version is not None else version
            answer = await self._http.post(f"/api/v1/workflows/{pinned.workflow_id}/run", json=body)
        else:
            body |= {"document": orjson.loads(pinned.text), "folder": pinned.folder}
            answer = await self._http.post("/api/v1/runs", json=body)
        return str(_checked(answer)["run_id"])

    async def cancel(self, run_id: str) -> None:
        """Cancel a run."""
        _checked(await self._http.post(f"/api/v1/runs/{run_id}/cancel"))


def _checked(answer: httpx2.Response) -> dict[str, Any]:
    data: dict[str, Any] = answer.json()
    if answer.is_success:
        return data
    if "problems" in data:
        raise InvalidDocument([Problem(**problem) for problem in data["problems"]])
    raise InterlaceError(f"the server refused: {data.get('detail') or data.get('title')} ({answer.status_code})")


async def find_server(settings: Settings) -> ServerClient | None:
    """The running server of this home, None when there is none."""
    home = settings.home.resolve()
    try:
        info = orjson.loads((home / SERVER_FILE).read_bytes())
        key = read_key(home)
    except (OSError, orjson.JSONDecodeError):
        return None
    client = ServerClient(str(info["url"]), key)
    if await client.alive():
        return client
    await client.__aexit__(None, None, None)
    return None


def read_key(home: Path) -> str:
    """The owner's key of a home."""
    return (home / KEY_FILE).read_text("ascii").strip()
