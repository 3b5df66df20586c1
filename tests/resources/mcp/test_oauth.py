"""Authorization by OAuth: a person agrees once, the tokens are kept encrypted, later calls need nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import orjson
import pytest
from tests.resources.mcp.programs import HttpProgram

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.mcp import Catalog, McpPool, McpServers, connection
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store

ANN = Principal("ann")
BACK = "http://127.0.0.1:9/oauth/mcp/callback"


@asynccontextmanager
async def guarded(home: Path, *options: str) -> AsyncIterator[tuple[McpServers, Store, Secrets, HttpClient]]:
    """The server as Ann has added it."""
    program = HttpProgram(*options, script="oauth_server.py")
    await program.start()
    store = await Store.open(None, home)
    secrets = Secrets(store, MasterKeys(home))
    http = HttpClient(allow=AllowList.parse(["127.0.0.0/8"]))
    servers = McpServers(store, secrets, McpPool(http, Catalog()))
    try:
        await servers.add("guarded", {"url": program.url, "oauth": {}}, by=ANN)
        yield servers, store, secrets, http
    finally:
        await servers.close()
        await http.close()
        await store.close()
        await program.kill()


async def agree(url: str) -> dict[str, list[str]]:
    """What a browser brings back after the person agreed."""
    async with httpx2.AsyncClient(follow_redirects=False) as browser:
        answer = await browser.get(url)
    assert answer.headers["location"].startswith(BACK)
    return parse_qs(urlsplit(answer.headers["location"]).query)


async def test_consent_once_and_then_calls_need_nobody(tmp_path: Path) -> None:
    async with guarded(tmp_path / "home") as (servers, store, secrets, http):
        with pytest.raises(NodeError, match="authoriz"):
            await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)

        url = await servers.authorize("guarded", by=ANN, redirect_uri=BACK)
        back = await agree(url)
        with pytest.raises(NodeError, match="another user"):
            await servers.authorized(state=back["state"][0], code=back["code"][0], user_id="bob")
        greeting = await servers.authorized(
            state=back["state"][0], code=back["code"][0], user_id="ann", issuer=back.get("iss", [None])[0]
        )
        assert greeting.name == "guarded"
        assert (await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)).text == "3"

        with pytest.raises(NodeError, match="nobody waits"):
            await servers.authorized(state=back["state"][0], code=back["code"][0], user_id="ann")
        kept = (await store.resources.find("mcp_server", "guarded", by=ANN)).definition
        assert "token" not in str(kept).lower()

        # Another process finds the tokens and needs nobody.
        other = McpServers(store, secrets, McpPool(http, Catalog()))
        assert (await other.call("guarded", "add", {"a": 2, "b": 2}, by=ANN)).text == "4"
        await other.close()


async def authorize(servers: McpServers) -> None:
    back = await agree(await servers.authorize("guarded", by=ANN, redirect_uri=BACK))
    await servers.authorized(
        state=back["state"][0], code=back["code"][0], user_id="ann", issuer=back.get("iss", [None])[0]
    )


async def test_a_person_takes_longer_to_agree_than_a_server_to_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with guarded(tmp_path / "home") as (servers, *_):
        with monkeypatch.context() as patch:
            patch.setattr(connection, "CONNECT_S", 0.0)  # it has passed before the person has even looked
            await authorize(servers)
        assert (await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)).text == "3"


async def test_who_waits_for_a_person_holds_nobody_up(tmp_path: Path) -> None:
    async with guarded(tmp_path / "home") as (servers, *_):
        await authorize(servers)
        await servers.authorize("guarded", by=ANN, redirect_uri=BACK)
        assert (await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)).text == "3"
        await authorize(servers)
        assert (await servers.call("guarded", "add", {"a": 2, "b": 2}, by=ANN)).text == "4"


class Run:
    def __init__(self) -> None:
        self.heard: set[str] = set()

    def hide(self, name: str, value: str) -> None:
        del name
        self.heard.add(value)


async def test_every_run_of_a_session_hears_of_tokens_renewed_in_it(tmp_path: Path) -> None:
    async with guarded(tmp_path / "home", "0") as (servers, store, secrets, _):
        await authorize(servers)
        resource = await store.resources.find("mcp_server", "guarded", by=ANN)
        name = f"mcp_server/{resource.id}/oauth.tokens"
        for _ in range(2):
            run = Run()
            await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN, hide=run.hide)
            kept = orjson.loads(await secrets.reveal(name, by=ANN, resource=resource))
            assert {kept["access_token"], kept["refresh_token"]} <= run.heard
