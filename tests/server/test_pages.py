from __future__ import annotations

from typing import Any

import httpx2

from tests.flows.documents import chain, template


async def test_signing_in_and_looking(api: httpx2.AsyncClient) -> None:
    markup = "<script>alert(1)</script>"
    document = chain(template("t", markup), outputs={markup: "{{ t.text }}"}, name=markup)
    answer = await api.post("/api/v1/runs", params={"wait": "20s"}, json={"document": document})
    run_id = answer.json()["run_id"]
    key = api.headers.pop("authorization").removeprefix("Bearer ")
    for path in ("/", f"/runs/{run_id}"):
        away = await api.get(path)
        assert (away.status_code, away.headers["location"]) == (303, "/login")
    assert (await api.post("/login", data={"key": "il_no_no"})).status_code == 401
    signed = await api.post("/login", data={"key": f" {key} "})
    assert signed.status_code == 303
    cookie = signed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    for path in ("/", f"/runs/{run_id}"):
        page = await api.get(path)
        assert page.status_code == 200
        assert "&lt;script&gt;" in page.text
        assert "<script" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (await api.get("/runs/none")).status_code == 404


async def test_the_first_page_says_why_there_is_no_web_ui(api: httpx2.AsyncClient) -> None:
    page = (await api.get("/")).text
    assert "This installation has no web UI" in page
    assert "python3 scripts/build_web.py" in page


async def test_runs_of_others_are_not_shown(api: httpx2.AsyncClient, stranger: Any) -> None:
    answer = await api.post("/api/v1/runs", params={"wait": "20s"}, json={"document": chain(name="mine")})
    assert "mine" not in (await api.get("/", headers=stranger())).text
    assert (await api.get(f"/runs/{answer.json()['run_id']}", headers=stranger())).status_code == 404


async def test_no_page_asks_another_server(api: httpx2.AsyncClient) -> None:
    for path in ("/docs", "/docs/oauth2-redirect", "/redoc"):
        assert (await api.get(path)).status_code == 404
    for path in ("/", "/login"):
        page = await api.get(path)
        assert page.status_code == 200
        assert "/docs" not in page.text
        assert "//" not in page.text
    assert (await api.get("/openapi.json")).status_code == 200
