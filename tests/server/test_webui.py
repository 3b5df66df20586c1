"""How the bundle of the web UI is served: its pages, its policy, and what it never stands in for."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.server.app import create_app
from interlace.server.webui import CSP

SCRIPT = "console.log('interlace')\n" * 200


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(
        "<!doctype html><title>Interlace</title><script src='/assets/a-1.js'></script>"
    )
    (folder / "assets" / "a-1.js").write_text(SCRIPT)
    (folder / "assets" / "a-1.js.br").write_bytes(b"packed by the build")
    (folder / "theme.js").write_text("1")
    (folder / ".source").write_text("a hash")
    return folder


@pytest.fixture
async def web(platform: Platform, bundle: Path) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(platform, bundle=bundle), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
        yield client


@pytest.mark.parametrize(
    "path", ["/", "/login", "/workflows", "/workflows/some-id?run=1", "/runs/x", "/no/such/page"]
)
async def test_every_page_is_the_bundle_under_a_strict_policy(web: httpx2.AsyncClient, path: str) -> None:
    page = await web.get(path)
    assert page.status_code == 200
    assert "<title>Interlace</title>" in page.text
    assert page.headers["content-security-policy"] == CSP
    assert "unsafe-eval" not in CSP
    assert "script-src 'self';" in CSP
    assert "frame-ancestors 'none'" in CSP
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["x-content-type-options"] == "nosniff"
    again = await web.get(path, headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_assets_are_kept_for_ever_and_sent_small(web: httpx2.AsyncClient) -> None:
    script = await web.get("/assets/a-1.js", headers={"accept-encoding": "gzip"})
    assert script.text == SCRIPT
    assert script.headers["content-encoding"] == "gzip"
    assert int(script.headers["content-length"]) <= len(gzip.compress(SCRIPT.encode())) + 20
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    plain = await web.get("/assets/a-1.js", headers={"accept-encoding": "identity"})
    assert plain.text == SCRIPT
    assert "content-encoding" not in plain.headers
    async with web.stream("GET", "/assets/a-1.js", headers={"accept-encoding": "gzip, br"}) as best:
        assert best.headers["content-encoding"] == "br"
        assert b"".join([piece async for piece in best.aiter_raw()]) == b"packed by the build"
    assert (await web.get("/assets/a-1.js.br")).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nothing",
        "/v1/nothing",
        "/mcp/x",
        "/hooks/x",
        "/health/x",
        "/metrics/x",
        "/docs",
        "/redoc",
        "/assets/a-2.js",
    ],
)
async def test_what_programs_ask_for_is_never_a_page(web: httpx2.AsyncClient, path: str) -> None:
    answer = await web.get(path)
    assert answer.status_code in (401, 404, 405)
    assert "text/html" not in answer.headers["content-type"]


async def test_routes_stand_before_pages_and_nothing_else_of_the_folder_is_sent(
    web: httpx2.AsyncClient,
) -> None:
    assert (await web.get("/openapi.json")).json()["info"]["title"] == "Interlace"
    assert (await web.get("/health/live")).json()["status"] == "ok"
    assert (await web.get("/api/v1/runs")).status_code == 401
    assert (await web.post("/workflows")).status_code == 404
    assert (await web.get("/theme.js")).text == "1"
    for path in ("/.source", "/assets/../.source", "/..%2f..%2fetc%2fpasswd"):
        assert "a hash" not in (await web.get(path)).text
        assert "root:" not in (await web.get(path)).text
