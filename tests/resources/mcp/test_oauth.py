"""Authorization by OAuth: a person agrees once, the tokens are kept encrypted, later calls need nobody."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from tests.resources.mcp.programs import HttpProgram

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.mcp import Catalog, McpPool, McpServers
from interlace.resources.secrets import MasterKeys, Secrets
from interlace.store import Store

ANN = Principal("ann")
BACK = "http://127.0.0.1:9/oauth/mcp/callback"


async def test_consent_once_and_then_calls_need_nobody(tmp_path: Path) -> None:
    program = HttpProgram(script="oauth_server.py")
    await program.start()
    store = await Store.open(None, tmp_path / "home")
    secrets = Secrets(store, MasterKeys(tmp_path / "home"))
    http = HttpClient(allow=AllowList.parse(["127.0.0.0/8"]))
    servers = McpServers(store, secrets, McpPool(http, Catalog()))
    try:
        added = await servers.add("guarded", {"url": program.url, "oauth": {}}, by=ANN)
        with pytest.raises(NodeError, match="authoriz"):
            await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)

        url = await servers.authorize("guarded", by=ANN, redirect_uri=BACK)
        async with httpx2.AsyncClient(follow_redirects=False) as browser:
            answer = await browser.get(url)
        back = parse_qs(urlsplit(answer.headers["location"]).query)
        assert answer.headers["location"].startswith(BACK)
        with pytest.raises(NodeError, match="another user"):
            await servers.authorized(state=back["state"][0], code=back["code"][0], user_id="bob")
        greeting = await servers.authorized(
            state=back["state"][0], code=back["code"][0], user_id="ann", issuer=back.get("iss", [None])[0]
        )
        assert greeting.name == "guarded"
        assert (await servers.call("guarded", "add", {"a": 1, "b": 2}, by=ANN)).text == "3"

        with pytest.raises(NodeError, match="nobody waits"):
            await servers.authorized(state=back["state"][0], code=back["code"][0], user_id="ann")
        kept = (await store.resources.find("mcp_server", added.id, by=ANN)).definition
        assert "token" not in str(kept).lower()

        # Another process finds the tokens and needs nobody.
        other = McpServers(store, secrets, McpPool(http, Catalog()))
        assert (await other.call("guarded", "add", {"a": 2, "b": 2}, by=ANN)).text == "4"
        await other.close()
    finally:
        await servers.close()
        await http.close()
        await store.close()
        await program.kill()
