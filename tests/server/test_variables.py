"""Kept variables over HTTP and at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from interlace.flows.platform import Platform
from interlace.server.cli.main import app
from interlace.store.changing import file_key
from tests.flows.documents import chain

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
PATH = "/api/v1/workflows"
CHANGES = [{"variable": "n", "op": "increment"}, {"variable": "word", "op": "append", "value": "!"}]
COUNTING = chain(
    {"id": "count", "type": "VARIABLE_ASSIGN", "config": {"assignments": CHANGES}}, name="counting",
    variables={
        "n": {"type": "integer", "default": 3, "scope": "workflow"},
        "word": {"type": "string", "default": "", "scope": "workflow"},
        "own": {"type": "number", "default": 0},
    },
    outputs={"n": "{{ vars.n }}", "word": "{{ vars.word }}"},
)  # fmt: skip


async def _push(api: httpx2.AsyncClient, document: str = COUNTING, *, publish: bool = True) -> str:
    answer = await api.post(PATH, json={"document": document, "publish": publish})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _values(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return {item["name"]: (item["value"], item["version"]) for item in answer.json()["items"]}


async def test_they_are_shown_and_set(api: httpx2.AsyncClient, platform: Platform, problem: Problem) -> None:
    workflow = await _push(api)
    shown = (await api.get(f"{PATH}/counting/variables")).json()["items"]
    assert shown[0] == {
        "name": "n", "type": "integer", "initial": 3, "value": 3, "version": 0, "updated_at": None, "declared": True,
    }  # fmt: skip
    assert [item["name"] for item in shown] == ["n", "word"]
    run = f"{PATH}/counting/run?wait=20s"
    assert (await api.post(run, json={})).json()["outputs"] == {"n": 4, "word": "!"}
    assert _values(await api.get(f"{PATH}/{workflow}/variables")) == {"n": (4, 1), "word": ("!", 1)}
    put = await api.put(f"{PATH}/{workflow}/variables", json={"values": {"n": 40}, "forget": ["word"]})
    assert _values(put) == {"n": (40, 2), "word": ("", 0)}
    assert (await api.post(run, json={})).json()["outputs"] == {"n": 41, "word": "!"}
    (line,) = (
        await platform.store.audit.list(by=await platform.store.users.principal("local"), action="variables")
    ).items
    assert (line.object_id, line.name, line.detail) == (
        workflow,
        "counting",
        {"set": ["n"], "forgotten": ["word"]},
    )


async def test_what_does_not_fit_is_refused_as_a_whole(api: httpx2.AsyncClient, problem: Problem) -> None:
    await _push(api)
    path = f"{PATH}/counting/variables"
    wrong = {"values": {"n": "four", "word": "w", "own": 1, "wird": "x"}}
    found = problem(await api.put(path, json=wrong), 422, "validation")["problems"]
    assert {(each["code"], each["field"]) for each in found} == {
        ("variable_type", "n"), ("unknown_variable", "own"), ("unknown_variable", "wird"),
    }  # fmt: skip
    assert "did you mean 'word'?" in next(each["message"] for each in found if each["field"] == "wird")
    problem(await api.put(path, json={"values": {"n": 1}, "forget": ["n"]}), 422, "validation")
    problem(await api.put(path, json={"values": [1]}), 422, "bad_request")
    problem(await api.put(f"{PATH}/nothing/variables", json={"values": {"n": 1}}), 404, "not_found")
    assert _values(await api.get(path)) == {"n": (3, 0), "word": ("", 0)}


async def test_what_is_declared_no_more_is_still_shown_until_it_is_forgotten(api: httpx2.AsyncClient) -> None:
    await _push(api)
    await api.post(f"{PATH}/counting/run?wait=20s", json={})
    await _push(api, COUNTING.replace('"word"', '"text"').replace("vars.word", "vars.text"))
    assert _values(await api.get(f"{PATH}/counting/variables")) == {
        "n": (4, 1),
        "text": ("", 0),
        "word": ("!", 1),
    }
    moved = {"values": {"text": "!"}, "forget": ["word"]}
    assert _values(await api.put(f"{PATH}/counting/variables", json=moved)) == {"n": (4, 1), "text": ("!", 1)}


async def test_files_of_a_name_have_their_own(
    api: httpx2.AsyncClient, stranger: Callable[[str], dict[str, str]]
) -> None:
    await _push(api)
    for n in (4, 5):
        answer = await api.post("/api/v1/runs?wait=20s", json={"document": json.loads(COUNTING)})
        assert answer.json()["outputs"]["n"] == n, answer.text
    assert _values(await api.get(f"{PATH}/file:counting/variables")) == {"n": (5, 2), "word": ("!!", 2)}
    other = await api.get(f"{PATH}/file:counting/variables", headers=stranger(""))
    assert other.json() == {"items": []}
    assert _values(await api.get(f"{PATH}/counting/variables")) == {"n": (3, 0), "word": ("", 0)}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INTERLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("INTERLACE_PREFECT", "off")
    (tmp_path / "counting.json").write_text(COUNTING)
    return tmp_path


def interlace(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result.stdout


def as_json(*arguments: str, code: int = 0) -> Any:
    return json.loads(interlace(*arguments, "--json", code=code))


def test_at_the_command_line(home: Path) -> None:
    interlace("workflows", "push", "counting.json", "--publish")
    kept = ("workflows", "variables", "counting")
    assert as_json("run", "counting")["outputs"] == {"n": 4, "word": "!"}
    shown = as_json(*kept, "--set", "n=7", "--set", "word=so 1")["items"]
    assert [(item["name"], item["value"]) for item in shown] == [("n", 7), ("word", "so 1")]
    assert as_json("run", "counting")["outputs"] == {"n": 8, "word": "so 1!"}
    assert "3 times" in interlace(*kept)
    assert as_json("run", "counting", "--test")["outputs"] == {"n": 9, "word": "so 1!!"}
    assert as_json(*kept, "--forget", "n")["items"][0]["version"] == 0
    refused = as_json(*kept, "--set", "n=x", code=2)
    assert "is not JSON" in json.dumps(refused)


def test_runs_of_a_file_go_on_by_its_name(home: Path) -> None:
    for n in (4, 5):
        assert as_json("run", "counting.json")["outputs"]["n"] == n
    assert as_json("workflows", "variables", "counting.json", "--set", "n=0")["items"][0]["version"] == 3
    assert as_json("run", "counting.json")["outputs"]["n"] == 1
    (home / "counting.json").write_text(COUNTING.replace('"counting"', '"another"'))
    assert as_json("run", "counting.json")["outputs"]["n"] == 4
    assert as_json("workflows", "variables", file_key("local", "counting"))["items"] == []
