"""`/api/v1/connectors`: imported, shown without secrets, called on request, invisible to others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from interlace.flows.platform import Platform
from interlace.resources.http.testing import Received, Reply, serve

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/connectors"


def spec(url: str, **more: Any) -> str:
    paths = {
        "/things/{id}": {
            "get": {
                "operationId": "getThing",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {},
            },
            "delete": {
                "operationId": "removeThing",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {}}],
                "responses": {},
            },
        },
        "/gone": {"get": {"$ref": "gone.yaml"}},
    }
    return json.dumps(
        {"openapi": "3.1.0", "info": {"title": "Things"}, "servers": [{"url": url}], "paths": paths, **more}
    )


BEARER: dict[str, Any] = {
    "components": {"securitySchemes": {"b": {"type": "http", "scheme": "bearer"}}},
    "security": [{"b": []}],
}


async def test_from_import_to_call(api: httpx2.AsyncClient, problem: Problem) -> None:
    async with serve(lambda r: Reply.of({"path": r.path, "auth": r.headers.get("authorization")})) as server:
        text = spec(server.url, **BEARER)
        previewed = (await api.post(f"{PATH}/preview", json={"openapi": text})).json()
        assert (previewed["operations"], previewed["imported"]) == (3, 2)
        assert [
            (entry["level"], entry["place"]) for entry in previewed["report"] if entry["level"] == "error"
        ] == [("error", "GET /gone")]
        assert (await api.get(PATH)).json()["items"] == []

        added = await api.post(PATH, json={"openapi": text, "name": "things"})
        assert added.status_code == 201, added.text
        connector = added.json()["id"]
        problem(await api.post(PATH, json={"openapi": text, "name": "things"}), 409, "conflict")
        problem(
            await api.post(f"{PATH}/things/actions/getThing/call", json={"parameters": {"id": 1}}),
            409,
            "missing_credentials",
        )
        assert (
            await api.put(f"{PATH}/things/credentials", json={"values": {"token": "s3cr3t-token"}})
        ).status_code == 204
        problem(
            await api.put(f"{PATH}/things/credentials", json={"values": {"key": "x"}}), 422, "bad_parameter"
        )
        shown = await api.get(f"{PATH}/{connector}")
        assert "s3cr3t" not in shown.text
        assert shown.json()["definition"]["auth"]["token"] == {"secret": f"connector/{connector}/auth.token"}

        names = [one["name"] for one in (await api.get(f"{PATH}/things/actions")).json()["items"]]
        assert names == ["getThing", "removeThing"]
        assert (await api.get(f"{PATH}/things/actions/getThing")).json()["parameters"]["required"] == ["id"]
        called = (
            await api.post(f"{PATH}/things/actions/getThing/call", json={"parameters": {"id": 5}})
        ).json()
        assert called["body"]["path"] == "/things/5"
        # what the other side was sent comes back under its name
        assert called["body"]["auth"].startswith("Bearer [secrets.")
        assert "s3cr3t" not in str(called)
        problem(
            await api.post(f"{PATH}/things/actions/getThing/call", json={"parameters": {"id": "x"}}),
            422,
            "bad_parameter",
        )
        problem(await api.post(f"{PATH}/things/actions/getThings/call", json={}), 404, "unknown_action")

        definition = {**shown.json()["definition"], "confirmation": "always"}
        assert (await api.put(f"{PATH}/things", json={"definition": definition})).status_code == 200
        problem(
            await api.post(f"{PATH}/things/actions/removeThing/call", json={"parameters": {"id": 5}}),
            409,
            "not_confirmed",
        )
        assert (
            await api.post(
                f"{PATH}/things/actions/removeThing/call", json={"parameters": {"id": 5}, "confirm": True}
            )
        ).status_code == 200
        for form in ("openapi", "json"):
            assert "s3cr3t" not in (await api.get(f"{PATH}/things/export?format={form}")).text
        assert (await api.delete(f"{PATH}/things")).status_code == 204
        problem(await api.get(f"{PATH}/things"), 404, "not_found")


async def test_wrong_sources_are_refused(api: httpx2.AsyncClient, problem: Problem) -> None:
    assert problem(await api.post(PATH, json={"openapi": "openapi: 3.1.0\npaths: [\n"}), 422, "bad_import")[
        "detail"
    ].startswith("line 3: ")
    problem(await api.post(PATH, json={}), 422, "bad_request")
    problem(await api.post(PATH, json={"openapi": "", "curl": ""}), 422, "bad_request")
    problem(
        await api.post(PATH, json={"definition": {"name": "x", "base_url": "ftp://x"}}), 422, "bad_definition"
    )


async def test_a_stranger_sees_nothing(
    api: httpx2.AsyncClient, stranger: Callable[[str], dict[str, str]], problem: Problem
) -> None:
    await api.post(PATH, json={"curl": "curl https://api.example.com/x", "name": "mine"})
    other = stranger("")
    assert (await api.get(PATH, headers=other)).json()["items"] == []
    for method, path, body in (
        ("GET", "", None), ("GET", "/actions", None), ("GET", "/export", None), ("DELETE", "", None), ("POST", "/authorize", None),
        ("PUT", "", {"definition": {"name": "mine"}}), ("PUT", "/credentials", {"values": {}}),
    ):  # fmt: skip
        problem(await api.request(method, f"{PATH}/mine{path}", json=body, headers=other), 404, "not_found")
    problem(
        await api.post(f"{PATH}/mine/actions/get_x/call", json={}, headers=other), 404, "resource_not_found"
    )


async def test_fetching_is_a_guarded_step(api: httpx2.AsyncClient, problem: Problem) -> None:
    async with serve(lambda _: Reply(200, spec("/v2").encode())) as server:
        found = (await api.post(f"{PATH}/fetch", json={"url": f"{server.url}/api.json"})).json()
        assert found["definition"]["base_url"] == f"{server.url}/v2"
        assert (await api.get(PATH)).json()["items"] == []
    problem(
        await api.post(f"{PATH}/fetch", json={"url": "http://169.254.169.254/latest"}), 403, "blocked_address"
    )


async def test_an_authorization_comes_back_to_who_began_it(
    api: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, problem: Problem, platform: Platform
) -> None:
    def authority(request: Received) -> Reply:
        if request.path == "/token":
            return Reply.of({"access_token": "a1", "token_type": "Bearer"})
        return Reply.of(request.headers.get("authorization"))

    async with serve(authority) as server:
        flow = {
            "authorizationUrl": f"{server.url}/authorize",
            "tokenUrl": f"{server.url}/token",
            "scopes": {},
        }
        oauth = {
            "components": {
                "securitySchemes": {"o": {"type": "oauth2", "flows": {"authorizationCode": flow}}}
            },
            "security": [{"o": []}],
        }
        await api.post(PATH, json={"openapi": spec(server.url, **oauth), "name": "things"})
        problem(await api.post(f"{PATH}/things/authorize"), 409, "missing_credentials")
        await api.put(f"{PATH}/things/credentials", json={"values": {"client_id": "id"}})
        page = (await api.post(f"{PATH}/things/authorize")).json()["url"]
        query = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        assert query["redirect_uri"].endswith("/api/v1/connectors/oauth/callback")
        key = anonymous.headers.pop("authorization")
        back = "/api/v1/connectors/oauth/callback"
        problem(await anonymous.get(back, params={"state": "made-up", "code": "c"}), 409, "oauth")
        assert (
            await anonymous.get(back, params={"state": query["state"], "error": "access_denied"})
        ).status_code == 400
        away = {"x-forwarded-for": "192.0.2.1"}
        problem(
            await anonymous.get(back, params={"state": query["state"], "code": "c"}, headers=away),
            401,
            "unauthorized",
        )
        _, strange = await platform.store.keys.create("strange", owner="another")
        sent = (await api.post(f"{PATH}/things/authorize", headers={"authorization": key})).json()["url"]
        theirs = {"state": parse_qs(urlsplit(sent).query)["state"][0], "code": "c"}
        refused = await anonymous.get(back, params=theirs, headers={"authorization": f"Bearer {strange}"})
        assert "another user" in problem(refused, 409, "oauth")["detail"]
        done = await anonymous.get(back, params={"state": query["state"], "code": "c"})
        assert (done.status_code, "Connected" in done.text) == (200, True)
        anonymous.headers["authorization"] = key
        called = await api.post(f"{PATH}/things/actions/getThing/call", json={"parameters": {"id": 1}})
        assert called.json()["body"] == "Bearer a1"
