"""What keys with scopes may do, and that no route forgets to say what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter, FastAPI

from interlace.flows.platform import Platform
from interlace.resources.connectors.connectors import CALLBACK_PATH
from interlace.server.app import create_app
from interlace.server.cli.main import app as command_line
from interlace.server.scopes import SCOPES, UnknownScopeError, checked, declared, holds, needs, routes_of
from tests.flows.waiting import ASK

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
FLOW = {
    "name": "Echo", "inputs": {"type": "object", "properties": {"n": {"type": "number"}}},
    "nodes": [{"id": "start", "type": "START"}, {"id": "done", "type": "END", "config": {"outputs": {"n": "{{ inputs.n }}"}}}],
    "edges": ["start -> done"],
}  # fmt: skip

# What is done with which scopes: method, path, body; `{w}`, `{r}`, `{a}` and `{f}` are a workflow, run, request and file.
ROUTES: list[tuple[str, str, Any, set[str]]] = [
    ("GET", "/api/v1/runs", None, {"runs:read"}),
    ("GET", "/api/v1/runs/{r}", None, {"runs:read"}),
    ("GET", "/api/v1/runs/{r}/events?accept", None, {"runs:read"}),
    ("POST", "/api/v1/runs", {"document": FLOW}, {"runs:write", "workflows:write"}),
    ("POST", "/api/v1/runs/{r}/cancel", None, {"runs:write"}),
    ("GET", "/api/v1/workflows", None, {"workflows:read"}),
    ("GET", "/api/v1/workflows/{w}", None, {"workflows:read"}),
    ("POST", "/api/v1/workflows", {"document": FLOW}, {"workflows:write"}),
    ("POST", "/api/v1/workflows/{w}/publish", {}, {"workflows:write"}),
    ("POST", "/api/v1/workflows/{w}/run", {"version": "latest"}, {"runs:write"}),
    ("GET", "/api/v1/approvals", None, {"approvals:read"}),
    ("POST", "/api/v1/approvals/{a}/answer", {"action": "maybe"}, {"approvals:answer"}),
    ("GET", "/api/v1/schedules", None, {"triggers:read"}),
    ("POST", "/api/v1/schedules/preview", {"cron": "@daily"}, {"triggers:read"}),
    ("POST", "/api/v1/webhooks", {"workflow": "{w}"}, {"triggers:write"}),
    ("GET", "/api/v1/event-subscriptions", None, {"triggers:read"}),
    ("GET", "/api/v1/files/{f}", None, {"files:read"}),
    ("GET", "/api/v1/connectors", None, {"resources:read"}),
    ("POST", "/api/v1/connectors/preview", {"curl": "curl https://api.example.com"}, {"resources:write"}),
    ("GET", "/api/v1/nodes", None, set()),
]


async def _filled(api: httpx2.AsyncClient) -> dict[str, str]:
    """One object of each kind."""
    workflow = (await api.post("/api/v1/workflows", json={"document": FLOW})).json()["id"]
    started = (await api.post("/api/v1/runs?wait=20", json={"document": ASK})).json()
    file = (await api.post("/api/v1/files", files={"file": ("a.txt", b"a", "text/plain")})).json()["ref"]
    return {"w": workflow, "r": started["run_id"], "a": started["waiting"][0]["id"], "f": file}


def test_every_route_says_what_it_needs(platform: Platform) -> None:
    routes = list(routes_of(create_app(platform)))
    assert len(routes) > 30
    silent = sorted(str(route.path) for route in routes if declared(route) is None)
    assert not silent, "give these routes `dependencies=[needs(…)]` of server/scopes.py"


def test_only_these_routes_need_no_key(platform: Platform) -> None:
    """A route under /api/ is never public, but where people sign in, and where a browser is sent back with a state that is good once."""
    free = {route.path for route in routes_of(create_app(platform)) if declared(route) == ()}
    assert not {path for path in free if path.startswith("/api/")} - {
        "/api/v1/nodes",
        "/api/v1/nodes/{kind}",
        CALLBACK_PATH,
        "/api/v1/session",
        "/api/v1/invitations/{token}",
        "/api/v1/invitations/{token}/accept",
    }


def test_a_route_that_says_nothing_is_found() -> None:
    router, app = APIRouter(), FastAPI()

    @router.get("/silent")
    async def silent() -> None: ...

    @router.get("/loud", dependencies=[needs("runs:read")])
    async def loud() -> None: ...

    app.include_router(router)
    found = {route.path: declared(route) for route in routes_of(app)}
    assert found == {"/silent": None, "/loud": ("runs:read",)}


@pytest.mark.parametrize(("method", "path", "body", "wanted"), ROUTES)
async def test_a_route_wants_exactly_its_scopes(
    api: httpx2.AsyncClient, platform: Platform, problem: Problem,
    method: str, path: str, body: Any, wanted: set[str],
) -> None:  # fmt: skip
    url = path.format(**await _filled(api))

    async def ask(scopes: set[str]) -> httpx2.Response:
        _, key = await platform.store.keys.create("limited", scopes=sorted(scopes) or ["files:write"])
        headers = {"authorization": f"Bearer {key}", "accept": "application/json"}
        return await api.request(method, url, json=body, headers=headers)

    for left_out in wanted:
        refused = problem(await ask(set(SCOPES) - {left_out}), 403, "missing_scope")
        assert refused["missing"] == [left_out]
        assert f"--scope {left_out}" in refused["detail"]
    allowed = await ask(wanted)
    assert allowed.status_code not in (401, 403), allowed.text


async def test_a_refused_route_changes_nothing(api: httpx2.AsyncClient, platform: Platform) -> None:
    made = await _filled(api)
    _, key = await platform.store.keys.create("reader", scopes=["runs:read", "approvals:read"])
    reader = {"authorization": f"Bearer {key}"}
    for method, path in (
        ("POST", f"/api/v1/runs/{made['r']}/cancel"), ("DELETE", f"/api/v1/runs/{made['r']}"),
        ("DELETE", f"/api/v1/workflows/{made['w']}"), ("POST", f"/api/v1/approvals/{made['a']}/answer"),
    ):  # fmt: skip
        answer = await api.request(method, path, headers=reader)
        assert answer.status_code == 403, (path, answer.text)
    assert (await api.get(f"/api/v1/runs/{made['r']}")).json()["status"] == "suspended"
    assert (await api.get(f"/api/v1/workflows/{made['w']}")).status_code == 200
    assert (await api.get(f"/api/v1/approvals/{made['a']}")).json()["status"] == "pending"


async def test_pages_with_runs_want_the_scope(api: httpx2.AsyncClient, platform: Platform) -> None:
    _, key = await platform.store.keys.create("files", scopes=["files:read"])
    limited = {"authorization": f"Bearer {key}"}
    made = await _filled(api)
    for path in ("/", f"/runs/{made['r']}"):
        refused = await api.get(path, headers=limited)
        assert refused.status_code == 403
        assert made["r"] not in refused.text
        assert (await api.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (["*"], "admin", True), (["runs:*"], "runs:write", True), (["runs:*"], "workflows:read", False),
        (["runs:write"], "runs:read", False), (["admin"], "runs:read", False), ([], "runs:read", False),
    ],
)  # fmt: skip
def test_holds(given: list[str], wanted: str, expected: bool) -> None:
    assert holds(given, wanted) is expected


def test_scopes_of_a_new_key_are_checked() -> None:
    assert checked([]) == ("*",)
    assert checked(["runs:read", "runs:*", "runs:read"]) == ("runs:read", "runs:*")
    with pytest.raises(UnknownScopeError, match=r"no scope 'run:read'; there are .*runs:read"):
        checked(["run:read"])


async def test_keys_are_made_with_scopes_and_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    import asyncio

    import orjson
    from typer.testing import CliRunner

    monkeypatch.setenv("INTERLACE_HOME", str(tmp_path / "h"))

    def run(*words: str) -> Any:
        return CliRunner().invoke(command_line, ["user", "key", *words])

    made = await asyncio.to_thread(
        run, "create", "--scope", "runs:read", "--scope", "files:*", "--expires", "2d", "--json"
    )
    body = orjson.loads(made.stdout)
    assert (made.exit_code, body["scopes"]) == (0, ["runs:read", "files:*"])
    listed = orjson.loads((await asyncio.to_thread(run, "list", "--json")).stdout)["items"][0]
    assert listed["scopes"] == ["runs:read", "files:*"]
    assert listed["expires_at"] - listed["created_at"] == pytest.approx(2 * 86_400, abs=60)
    wrong = await asyncio.to_thread(run, "create", "--scope", "everything")
    assert wrong.exit_code == 2
    assert "no scope 'everything'" in wrong.stderr
    assert (await asyncio.to_thread(run, "create", "--expires", "soon")).exit_code == 2
