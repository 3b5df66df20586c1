"""Stored connectors: whose credentials are used, authorization by a person, tokens renewed once, what is written down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Principal
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.oauth import challenge
from interlace.resources.http import AllowList, HttpClient
from interlace.resources.http.testing import Received, Reply, serve
from interlace.store.errors import NotFoundError

ACTIONS = [{"name": "me", "path": "/me"}]


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off"))
    yield opened
    await opened.close()


def connector(url: str, auth: dict[str, Any], **more: Any) -> Connector:
    return Connector.model_validate(
        {"name": "shop", "base_url": url, "auth": auth, "actions": ACTIONS, **more}
    )


class Authority:
    """An authorization server with an API: codes and refresh tokens are good once."""

    def __init__(self) -> None:
        self.codes = {"c0de": ""}
        self.refresh = "r0-secret"
        self.access = "a0-secret"
        self.lifetime = 3600
        self.grants: list[str] = []

    def __call__(self, request: Received) -> Reply:
        if request.path == "/me":
            good = request.headers.get("authorization") == f"Bearer {self.access}"
            return Reply.of({"ok": True}) if good else Reply(401, b"who are you?")
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        self.grants.append(form["grant_type"])
        if form.get("client_id") != "id" or form.get("client_secret") != "client-s3cret":
            return Reply.of({"error": "invalid_client"}, 401)
        if form["grant_type"] == "authorization_code":
            if self.codes.pop(form["code"], None) != challenge(form["code_verifier"]):
                return Reply.of({"error": "invalid_grant"}, 400)
        elif form["refresh_token"] != self.refresh:
            return Reply.of({"error": "invalid_grant", "error_description": "used"}, 400)
        number = len(self.grants)
        self.access, self.refresh = f"a{number}-secret", f"r{number}-secret"
        return Reply.of(
            {
                "access_token": self.access,
                "refresh_token": self.refresh,
                "expires_in": self.lifetime,
                "token_type": "bearer",
            }
        )


def grant(url: str) -> dict[str, Any]:
    return {
        "type": "oauth2_code",
        "authorize_url": f"{url}/authorize",
        "token_url": f"{url}/token",
        "client_id": "id",
        "client_secret": "client-s3cret",
        "scopes": ["a", "b"],
    }


async def agree(platform: Platform, authority: Authority, by: Principal = LOCAL) -> str:
    page = await platform.connectors.begin("shop", by=by, redirect_uri="http://localhost/cb")
    query = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
    assert (query["scope"], query["client_id"], query["code_challenge_method"]) == ("a b", "id", "S256")
    authority.codes["c0de"] = query["code_challenge"]
    await platform.connectors.finish(query["state"], "c0de", user_id=by.user_id)
    return query["state"]


async def test_a_person_agrees_and_tokens_are_renewed(platform: Platform) -> None:
    authority = Authority()
    async with serve(authority) as server:
        await platform.connectors.add(connector(server.url, grant(server.url)), by=LOCAL)
        with pytest.raises(NodeError, match="nobody has connected it yet"):
            await platform.connectors.call("shop", "me", {}, by=LOCAL)
        state = await agree(platform, authority)
        hidden: dict[str, str] = {}
        result = await platform.connectors.call("shop", "me", {}, by=LOCAL, hide=hidden.__setitem__)
        assert result.body == {"ok": True}
        assert {"client-s3cret", "a1-secret", "r1-secret"} <= set(hidden.values())
        with pytest.raises(NodeError, match="unknown, over or too old"):
            await platform.connectors.finish(state, "c0de", user_id="local")

        authority.access = "changed"  # the server forgets the token: 401, one renewal, one more try
        assert (await platform.connectors.call("shop", "me", {}, by=LOCAL)).status_code == 200
        assert authority.grants == ["authorization_code", "refresh_token"]
        assert (await platform.connectors.call("shop", "me", {}, by=LOCAL)).status_code == 200
        assert len(authority.grants) == 2

        authority.access, authority.refresh = "gone", "gone"
        with pytest.raises(NodeError, match="invalid_grant used") as caught:
            await platform.connectors.call("shop", "me", {}, by=LOCAL)
        assert caught.value.kind == "oauth"
        assert "secret" not in caught.value.message


async def test_many_calls_of_several_workers_renew_once(platform: Platform) -> None:
    authority = Authority()
    authority.lifetime = 1
    async with serve(authority) as server:
        await platform.connectors.add(connector(server.url, grant(server.url)), by=LOCAL)
        await agree(platform, authority)
        authority.lifetime = 3600
        other_http = HttpClient(allow=AllowList.parse("127.0.0.0/8"))
        other = Connectors(
            platform.store, platform.secrets, other_http
        )  # another worker: nothing in memory is shared
        calls = [
            one.call("shop", "me", {}, by=LOCAL) for one in (platform.connectors, other) for _ in range(5)
        ]
        found = await asyncio.gather(*calls)
        await other_http.close()
        assert [result.status_code for result in found] == [200] * 10
        assert authority.grants == ["authorization_code", "refresh_token"]


async def test_secrets_are_nowhere_in_clear(platform: Platform) -> None:
    authority = Authority()
    async with serve(authority) as server:
        made = connector(server.url, grant(server.url), secret_headers={"X-More": "more-s3cret"})
        await platform.connectors.add(made, by=LOCAL)
        await agree(platform, authority)
        await platform.connectors.call("shop", "me", {}, by=LOCAL)
        assert server.requests[-1].headers["x-more"] == "more-s3cret"
    home = platform.settings.home
    content = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    for secret in (b"client-s3cret", b"more-s3cret", b"a1-secret", b"r1-secret"):
        assert secret not in content


async def test_each_user_has_their_own_credentials(platform: Platform) -> None:
    ada = await platform.store.users.create("ada", by=LOCAL, password_hash=None)
    org = await platform.store.organisations.create("acme", by=LOCAL)
    await platform.store.organisations.add(
        org.id, ada.id, "member", by=await platform.store.users.principal("local")
    )
    owner, member = [await platform.store.users.principal(one) for one in ("local", ada.id)]
    async with serve(lambda request: Reply.of(request.headers.get("authorization"))) as server:
        made = connector(server.url, {"type": "bearer"}, credentials="user")
        await platform.connectors.add(made, by=owner, org_id=org.id, visibility="org")
        await platform.connectors.set_credentials("shop", {"token": "of-owner"}, by=owner)
        assert (await platform.connectors.call("shop", "me", {}, by=owner)).body == "Bearer of-owner"
        with pytest.raises(NodeError, match="credentials of your own: token") as caught:
            await platform.connectors.call("shop", "me", {}, by=member)
        assert caught.value.kind == "missing_credentials"
        await platform.connectors.set_credentials("shop", {"token": "of-ada"}, by=member)
        assert (await platform.connectors.call("shop", "me", {}, by=member)).body == "Bearer of-ada"
        with pytest.raises(NodeError, match="no connector 'shop'") as caught:
            await platform.connectors.call("shop", "me", {}, by=Principal("stranger"))
        assert caught.value.kind == "resource_not_found"


async def test_credentials_do_not_follow_to_another_address(platform: Platform) -> None:
    async with (
        serve(lambda request: Reply.of(request.headers.get("authorization"))) as first,
        serve(lambda _: Reply.of(1)) as second,
    ):
        await platform.connectors.add(connector(first.url, {"type": "bearer", "token": "t0ken"}), by=LOCAL)
        assert (await platform.connectors.call("shop", "me", {}, by=LOCAL)).body == "Bearer t0ken"
        _, loaded = await platform.connectors.find("shop", by=LOCAL)
        await platform.connectors.update(
            "shop", loaded.connector.model_copy(update={"title": "New"}), by=LOCAL
        )
        assert (await platform.connectors.call("shop", "me", {}, by=LOCAL)).body == "Bearer t0ken"
        _, loaded = await platform.connectors.find("shop", by=LOCAL)
        await platform.connectors.update(
            "shop", loaded.connector.model_copy(update={"base_url": second.url}), by=LOCAL
        )
        with pytest.raises(NodeError, match="needs credentials: token"):
            await platform.connectors.call("shop", "me", {}, by=LOCAL)
        assert second.requests == []


async def test_the_breaker_is_shared_and_calls_are_audited(platform: Platform) -> None:
    status = {"now": 500}
    settings = {"retry": {"max": 0}, "breaker": {"failures": 2, "pause": 60}}
    async with serve(lambda _: Reply(status["now"])) as server:
        resource = await platform.connectors.add(
            connector(server.url, {"type": "none"}, **settings), by=LOCAL
        )
        other = Connectors(platform.store, platform.secrets, platform.http)
        for one in (platform.connectors, other):
            with pytest.raises(NodeError, match="500"):
                await one.call("shop", "me", {}, by=LOCAL)
        third = Connectors(platform.store, platform.secrets, platform.http)
        with pytest.raises(NodeError, match="2 times in a row") as caught:
            await third.call("shop", "me", {}, by=LOCAL)
        assert caught.value.kind == "circuit_open"
        row = await platform.store.connectors.breaker(resource.id)
        assert row.open_until is not None
        assert row.open_until > time.time()
    page = await platform.store.audit.list(by=LOCAL, action="connector.call")
    assert [entry.detail["error"] for entry in reversed(page.items)] == [
        "http_500",
        "http_500",
        "circuit_open",
    ]
    first = page.items[-1]
    assert (first.user_id, first.name, first.detail["status"], first.detail["action"]) == (
        "local",
        "shop",
        500,
        "me",
    )


async def test_removing_takes_secrets_along(platform: Platform) -> None:
    await platform.connectors.add(
        connector("http://127.0.0.1:9", {"type": "bearer", "token": "t0ken"}), by=LOCAL
    )
    await platform.connectors.remove("shop", by=LOCAL)
    with pytest.raises(NotFoundError):
        await platform.connectors.find("shop", by=LOCAL)
    with pytest.raises(NodeError) as caught:
        await platform.connectors.call("shop", "me", {}, by=LOCAL)
    assert caught.value.kind == "resource_not_found"
