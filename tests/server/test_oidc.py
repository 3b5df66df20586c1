"""People who sign in through an identity provider: a real one, in a process of its own, that signs real tokens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from interlace.server.passwords import hash_password
from tests.server.provider import CLIENT, SECRET, Provider, told

BASE = "http://localhost"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as started:
        yield started


@pytest.fixture
def wanted(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the operator says beside the address; `@pytest.mark.parametrize(..., indirect=True)` says more."""
    return getattr(request, "param", {})


@pytest.fixture
def settings(settings: Settings, provider: Provider, wanted: dict[str, Any]) -> Settings:
    provider.tell(forget=True)
    said = {
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "title": "Corp",
        **wanted,
    }
    return Settings(home=settings.home, prefect="off", oidc={"corp": said})


class Browser:
    """Goes to the provider and back, as a browser does."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def away(self, then: str = "/") -> str:
        """Where the provider sends the browser back to."""
        answer = await self.client.get("/login/oidc/corp", params={"next": then})
        assert answer.status_code == 303, answer.text
        async with httpx2.AsyncClient(trust_env=False) as outside:
            back = await outside.get(answer.headers["location"])
        assert back.status_code == 303, back.text
        return back.headers["location"]

    async def sign_in(self, then: str = "/") -> httpx2.Response:
        return await self.client.get(await self.away(then))

    async def who(self) -> dict[str, Any] | None:
        return (await self.client.get("/api/v1/session")).json()["user"]


@pytest.fixture
async def browser(platform: Platform) -> AsyncIterator[Browser]:
    transport = httpx2.ASGITransport(create_app(platform), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
        yield Browser(client)


async def test_a_user_is_made_and_known_again(
    browser: Browser, platform: Platform, provider: Provider
) -> None:
    ways = (await browser.client.get("/api/v1/session")).json()["ways"]
    assert ways["oidc"] == [{"name": "corp", "title": "Corp", "url": "/login/oidc/corp"}]
    assert "Corp" in (await browser.client.get("/login")).text
    answer = await browser.sign_in("/runs?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?x=1")
    found = await browser.who()
    assert found is not None
    assert (found["name"], found["email"], found["operator"], found["has_password"]) == (
        "ann",
        "ann@example.com",
        False,
        False,
    )
    changed = {
        "sub": "ann-1",
        "preferred_username": "ann-married",
        "email": "new@example.com",
        "email_verified": True,
    }
    provider.tell(user=changed)
    await browser.sign_in()
    again = await browser.who()
    assert again is not None
    assert again["id"] == found["id"], "the subject says who it is, not name or address"
    session = (await browser.client.get("/api/v1/session")).json()["session"]
    assert session["method"] == "oidc"
    assert await platform.store.identities.issuers(found["id"]) == [provider.issuer]


@pytest.mark.parametrize("wanted", [{"end_session": True}], indirect=True)
async def test_signing_out_goes_on_at_the_provider(browser: Browser, provider: Provider) -> None:
    await browser.sign_in()
    ours = {"origin": BASE}
    answer = await browser.client.delete("/api/v1/session", headers=ours)
    assert answer.status_code == 200
    place = urlsplit(answer.json()["url"])
    said = {name: values[0] for name, values in parse_qs(place.query).items()}
    assert f"{place.scheme}://{place.netloc}{place.path}" == f"{provider.issuer}/logout"
    assert (said["x"], said["client_id"], said["post_logout_redirect_uri"]) == ("1", CLIENT, f"{BASE}/login")
    assert said["id_token_hint"].count(".") == 2
    assert await browser.who() is None
    assert (await browser.client.delete("/api/v1/session", headers=ours)).status_code == 204


@pytest.mark.parametrize(
    ("wanted", "attack"), [({}, ""), ({"end_session": True}, "no_end_session")], indirect=["wanted"]
)
async def test_signing_out_here_alone(browser: Browser, provider: Provider, attack: str) -> None:
    provider.tell(attack=attack)
    await browser.sign_in()
    assert (await browser.client.delete("/api/v1/session", headers={"origin": BASE})).status_code == 204
    assert await browser.who() is None


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_algorithms_with_public_keys(browser: Browser, provider: Provider, algorithm: str) -> None:
    provider.tell(algorithm=algorithm)
    assert (await browser.sign_in()).headers["location"] == "/"
    assert await browser.who() is not None


ATTACKS = [
    "alg_none", "hs_confusion", "oct_key", "wrong_aud", "wrong_iss", "expired", "no_exp", "early", "wrong_nonce", "no_nonce",
    "two_aud", "azp", "no_sub", "at_hash", "other_key", "jwk_header", "unknown_kid", "cut", "no_id_token", "other_issuer",
    "mixed_up", "denied",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
async def test_what_proves_nothing_signs_nobody_in(
    browser: Browser, platform: Platform, provider: Provider, attack: str
) -> None:
    with told(provider, attack=attack):
        if attack == "other_issuer":
            answer = await browser.client.get("/login/oidc/corp")
        else:
            answer = await browser.sign_in()
    assert answer.headers["location"] == f"/login?error={'oidc_denied' if attack == 'denied' else 'oidc'}"
    assert await browser.who() is None
    assert [user.name for user in await platform.store.users.list()] == ["owner"]
    assert (await browser.sign_in()).headers["location"] == "/", "and a good one does afterwards"


async def test_a_token_without_kid_is_taken_where_one_key_fits(browser: Browser, provider: Provider) -> None:
    with told(provider, attack="no_kid"):
        assert (await browser.sign_in()).headers["location"] == "/"


async def test_userinfo_of_somebody_else(browser: Browser, provider: Provider) -> None:
    with told(provider, attack="other_userinfo", told_by="userinfo"):
        assert (await browser.sign_in()).headers["location"] == "/login?error=oidc"


async def test_keys_rotate(browser: Browser, provider: Provider) -> None:
    await browser.sign_in()
    for _ in range(3):
        provider.tell(rotate=True)
        assert (await browser.sign_in()).headers["location"] == "/"


async def test_unknown_keys_do_not_make_us_ask_for_ever(browser: Browser, provider: Provider) -> None:
    await browser.sign_in()
    before = provider.tell(attack="unknown_kid")["/jwks"]
    for _ in range(12):
        await browser.sign_in()
    assert provider.tell()["/jwks"] - before == 5


async def test_claims_from_userinfo(browser: Browser, provider: Provider) -> None:
    provider.tell(told_by="userinfo")
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert (found["name"], found["email"]) == ("ann", "ann@example.com")


async def test_a_verified_address_of_elsewhere_does_not_verify_this_one(
    browser: Browser, provider: Provider
) -> None:
    user = {"sub": "ann-1", "preferred_username": "ann", "email": "boss@example.com"}
    provider.tell(user=user, userinfo={"email": "ann@example.com", "email_verified": True})
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert found["email"] is None


async def test_a_sign_in_belongs_to_the_browser_that_began_it(browser: Browser, platform: Platform) -> None:
    back = await browser.away()
    transport = httpx2.ASGITransport(create_app(platform))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as victim:
        answer = await victim.get(back)
        assert answer.headers["location"] == "/login?error=oidc_stale"
        assert (await victim.get("/api/v1/session")).json()["authenticated"] is False
    assert (await browser.client.get(back)).headers["location"] == "/"


async def test_a_way_is_gone_once(
    browser: Browser, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = await browser.away()
    forged = back.replace("state=", "state=x")
    assert (await browser.client.get(forged)).headers["location"] == "/login?error=oidc_stale"
    cookies = dict(browser.client.cookies)
    assert (await browser.client.get(back)).headers["location"] == "/"
    browser.client.cookies.update(cookies)
    assert (await browser.client.get(back)).headers["location"] == "/login?error=oidc_stale"
    late = await browser.away()
    import time

    now = time.time()
    monkeypatch.setattr("interlace.store.tickets.time.time", lambda: now + 601)
    assert (await browser.client.get(late)).headers["location"] == "/login?error=oidc_stale"
    del platform


async def test_a_code_needs_its_verifier(browser: Browser, provider: Provider) -> None:
    """A code that somebody saw on its way is of no use with another sign-in."""
    first, second = await browser.away(), await browser.away()
    code = parse_qs(urlsplit(first).query)["code"][0]
    mixed = second.replace(parse_qs(urlsplit(second).query)["code"][0], code)
    assert (await browser.client.get(mixed)).headers["location"] == "/login?error=oidc"
    assert await browser.who() is None
    del provider


@pytest.mark.parametrize(
    "then", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil", "/a\\b", "/\r\nx: y"]
)
async def test_nobody_is_sent_elsewhere_afterwards(browser: Browser, then: str) -> None:
    assert (await browser.sign_in(then)).headers["location"] == "/"


async def test_an_unknown_provider(browser: Browser) -> None:
    assert (await browser.client.get("/login/oidc/other")).status_code == 404
    assert (await browser.client.get("/login/oidc/other/callback")).status_code == 404


async def test_a_provider_that_does_not_answer(settings: Settings) -> None:
    closed = {"issuer": "http://127.0.0.1:9", "client_id": "x"}
    platform = await Platform.open(Settings(home=settings.home, prefect="off", oidc={"corp": closed}))
    try:
        transport = httpx2.ASGITransport(create_app(platform))
        async with httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
            assert (await client.get("/login/oidc/corp")).headers["location"] == "/login?error=oidc"
    finally:
        await platform.close()


@pytest.mark.parametrize("wanted", [{"domains": ["Example.com"]}], indirect=True)
async def test_domains(browser: Browser, provider: Provider) -> None:
    unverified = {"sub": "x", "email": "x@example.com", "email_verified": False}
    for user in (unverified, {"sub": "x", "email": "x@evil.example", "email_verified": True}, {"sub": "x"},
                 {"sub": "x", "email": "x@example.com.evil.example", "email_verified": True}):  # fmt: skip
        provider.tell(user=user)
        assert (await browser.sign_in()).headers["location"] == "/login?error=oidc_denied"
    provider.tell(forget=True)
    assert (await browser.sign_in()).headers["location"] == "/"


async def test_an_address_alone_makes_nobody_somebody_else(browser: Browser, platform: Platform) -> None:
    known = await platform.store.users.create(
        "ann", by=LOCAL, email="ann@example.com", password_hash=await hash_password("x" * 10)
    )
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert found["id"] != known.id
    assert (found["name"], found["email"]) == ("ann@example.com", None)


@pytest.mark.parametrize("wanted", [{"link_by_email": True}], indirect=True)
async def test_linked_by_address(browser: Browser, platform: Platform, provider: Provider) -> None:
    known = await platform.store.users.create("ann", by=LOCAL, email="Ann@Example.com")
    provider.tell(user={"sub": "other", "email": "ann@example.com", "email_verified": False})
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert found["id"] != known.id, "an address that the provider has not verified is nobody's"
    provider.tell(forget=True)
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert found["id"] == known.id


@pytest.mark.parametrize("wanted", [{"link_by_email": True}], indirect=True)
async def test_nobody_takes_the_address_of_a_colleague_beforehand(
    browser: Browser, platform: Platform
) -> None:
    mallory = await platform.store.users.create("mallory", by=LOCAL)
    _, key = await platform.store.keys.create("mine", owner=mallory.id)
    mine = {"authorization": f"Bearer {key}"}
    place, wanted = "/api/v1/users/me", {"email": "ann@example.com"}
    assert (await browser.client.patch(place, json=wanted, headers=mine)).status_code == 403
    org = await platform.store.organisations.create("lab", by=LOCAL)
    _, token = await platform.store.invitations.create(
        org.id, "member", by=LOCAL, lasts=60, email="ann@example.com"
    )
    joined = await browser.client.post(
        f"/api/v1/invitations/{token}/accept",
        json={"name": "eve", "password": "x" * 12},
        headers={"origin": BASE},
    )
    assert joined.status_code == 201, joined.text
    browser.client.cookies.clear()
    await browser.sign_in()
    found = await browser.who()
    assert found is not None
    assert (found["name"], found["email"]) == ("ann", "ann@example.com")
    assert found["id"] not in (mallory.id, joined.json()["user_id"])


@pytest.mark.parametrize("wanted", [{"create": False}], indirect=True)
async def test_nobody_is_made(browser: Browser, platform: Platform, provider: Provider) -> None:
    assert (await browser.sign_in()).headers["location"] == "/login?error=oidc_denied"
    known = await platform.store.users.create("ann", by=LOCAL)
    await platform.store.identities.link(provider.issuer, "ann-1", known.id)
    assert (await browser.sign_in()).headers["location"] == "/"


async def test_a_disabled_user_stays_out(browser: Browser, platform: Platform) -> None:
    await browser.sign_in()
    ann = await platform.store.users.get("ann")
    await platform.store.users.disable(ann.id, by=LOCAL)
    assert (await browser.sign_in()).headers["location"] == "/login?error=oidc_denied"


RIGHTS = {
    "operators": ["ops"], "groups_claim": "realm.groups",
    "orgs": {"acme": {"owner": ["bosses"], "admin": ["it"], "member": ["*"]}, "lab": {"member": ["research"]}, "gone": {}},
}  # fmt: skip


@pytest.mark.parametrize("wanted", [RIGHTS], indirect=True)
async def test_groups_become_roles(browser: Browser, platform: Platform, provider: Provider) -> None:
    for name in ("acme", "lab", "other"):
        await platform.store.organisations.create(name, by=LOCAL)

    async def rights(groups: Any) -> tuple[dict[str, str], bool]:
        user = {"sub": "ann-1", "preferred_username": "ann", "realm": {"groups": groups}}
        await asyncio.to_thread(provider.tell, user=user)
        assert (await browser.sign_in()).headers["location"] == "/"
        found = await browser.who()
        assert found is not None
        return {org["name"]: org["role"] for org in found["orgs"]}, found["operator"]

    assert await rights(["it", "research", "ops", 7]) == ({"acme": "admin", "lab": "member"}, True)
    assert await rights(["bosses"]) == ({"acme": "owner"}, False)
    ann = await platform.store.users.get("ann")
    other = await platform.store.organisations.get("other", by=LOCAL)
    await platform.store.organisations.add(other.id, ann.id, "admin", by=LOCAL)
    assert await rights("it") == ({"acme": "admin", "other": "admin"}, False), "what no setting names stays"
    assert await rights(None) == ({"acme": "member", "other": "admin"}, False)


@pytest.mark.parametrize("wanted", [{"groups": ["staff"]}], indirect=True)
async def test_only_some_groups(browser: Browser, provider: Provider) -> None:
    assert (await browser.sign_in()).headers["location"] == "/login?error=oidc_denied"
    provider.tell(user={"sub": "ann-1", "groups": ["staff"]})
    assert (await browser.sign_in()).headers["location"] == "/"


async def test_the_secret_is_never_shown(settings: Settings) -> None:
    shown = str(settings.masked())
    assert SECRET not in shown
    assert CLIENT in shown


@pytest.mark.parametrize(
    "issuer", ["http://id.example", "ftp://id.example", "id.example", "https://id.example?x=1", ""]
)
def test_what_is_no_issuer(issuer: str) -> None:
    with pytest.raises(ValueError, match="no issuer"):
        Settings(oidc={"corp": {"issuer": issuer, "client_id": "x"}})
