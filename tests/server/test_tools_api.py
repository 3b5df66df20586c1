"""`/api/v1/tools` and `interlace tools`: the list, calls by hand, gates, and other people's files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.resources.tools import builtin_tools
from tests.docs.console import Terminal
from tests.loopback import Loopback

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]


async def test_the_list(api: httpx2.AsyncClient, problem: Problem) -> None:
    found = (await api.get("/api/v1/tools")).json()["items"]
    assert [tool["name"] for tool in found] == [tool.name for tool in builtin_tools().list()]
    assert all(tool["parameters"]["type"] == "object" and tool["category"] for tool in found)
    some = (await api.get("/api/v1/tools?category=mail")).json()["items"]
    assert [tool["name"] for tool in some] == ["send_email"]
    one = (await api.get("/api/v1/tools/calculator")).json()
    assert one["parameters"]["required"] == ["expression"]
    assert (
        "did you mean 'calculator'?"
        in problem(await api.get("/api/v1/tools/calculater"), 404, "not_found")["detail"]
    )
    problem(await api.get("/api/v1/tools?category=magic"), 422, "bad_request")


async def test_calls_by_hand(api: httpx2.AsyncClient, problem: Problem) -> None:
    done = await api.post("/api/v1/tools/calculator/run", json={"arguments": {"expression": "6*7"}})
    assert done.json() == {
        "result": {"value": 42, "text": "42", "exact": True}, "text": "42", "is_error": False, "citations": [],
    }  # fmt: skip
    problem(await api.post("/api/v1/tools/calculator/run", json={"arguments": {}}), 422, "bad_arguments")
    problem(await api.post("/api/v1/tools/nope/run", json={}), 404, "unknown_tool")
    problem(await api.post("/api/v1/tools/list_files/run", json={}), 422, "no_run")
    asked = {"arguments": {"url": "http://169.254.169.254/latest"}}
    problem(await api.post("/api/v1/tools/http_request/run", json=asked), 422, "blocked_address")


async def test_a_gated_call_needs_agreement_and_is_audited(
    api: httpx2.AsyncClient, problem: Problem, loopback: Loopback
) -> None:
    asked: dict[str, Any] = {
        "arguments": {"url": f"{loopback.url}/orders", "method": "POST", "json": {"n": 1}}
    }
    refused = problem(await api.post("/api/v1/tools/http_request/run", json=asked), 409, "not_confirmed")
    assert f"POST {loopback.url}/orders" in refused["detail"]
    assert loopback.seen == {}
    done = await api.post("/api/v1/tools/http_request/run", json={**asked, "confirm": True})
    assert (done.status_code, loopback.seen) == (200, {"/orders": 1})
    lines = (await api.get("/api/v1/audit?action=tool")).json()["items"]
    assert [(line["action"], line["name"]) for line in lines] == [("tool.call", "http_request")]


async def test_files_of_others_are_not_there(
    api: httpx2.AsyncClient, problem: Problem, stranger: Callable[[str], dict[str, str]]
) -> None:
    uploaded = await api.post(
        "/api/v1/files", files={"file": ("a.md", b"# Mine\n\nOnly mine.", "text/markdown")}
    )
    asked = {"arguments": {"file": uploaded.json()}}
    mine = await api.post("/api/v1/tools/read_document/run", json=asked)
    assert mine.json()["result"]["content"] == "# Mine\n\nOnly mine."
    theirs = await api.post("/api/v1/tools/read_document/run", json=asked, headers=stranger(""))
    assert "Only mine" not in problem(theirs, 404, "not_found")["detail"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)
    monkeypatch.setenv("INTERLACE_PREFECT", "off")

    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(["tools", *arguments]))

    rows = [line.split() for line in done("list").splitlines()]
    assert ["name", "category", "does"] in rows
    assert {(row[0], row[1]) for row in rows if row} >= {("send_email", "mail"), ("kb_list", "knowledge")}
    assert [tool["name"] for tool in json.loads(done("list", "--category", "mail", "--json"))["items"]] == [
        "send_email"
    ]
    assert "there is no category 'magic'" in done("list", "--category", "magic")
    shown = done("show", "http_request")
    assert "GET | HEAD | OPTIONS | POST | PUT | PATCH | DELETE" in shown
    assert "did you mean 'http_request'?" in done("show", "http_reqest")
    assert done("run", "calculator", "-i", "expression=2^10") == "1024"
    Path("given.yaml").write_text("values: [1, 2, 3]\n")
    found = json.loads(
        done("run", "statistics", "--arguments", "given.yaml", "-i", "percentiles=[50]", "--json")
    )
    assert (found["result"]["mean"], found["result"]["percentiles"]) == (2, {"50": 2})
    assert "is no name=value" in done("run", "calculator", "-i", "expression")
    assert "did you mean 'calculator'?" in done("run", "calculater", "-i", "expression=1")
    assert "--yes" in done("run", "http_request", "-i", "url=http://127.0.0.1:1/", "-i", "method=DELETE")
