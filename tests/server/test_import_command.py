"""`interlace import` and `POST /api/v1/workflows/import`: a document and a report, nothing stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.docs.console import Terminal
from tests.importers.n8n_files import called, node, set_, workflow

Problem = Callable[[httpx2.Response, int, str], dict[str, Any]]
GOOD = workflow(
    [called("q"), set_("Say", said="=Hello {{ $json.q }}"), node("Odd", "n8n-nodes-odd.teleport")],
    "Go -> Say",
    "Say -> Odd",
    name="Greeting",
)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)

    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(list(arguments)))

    Path("flow.json").write_text(GOOD)
    said = done("import", "flow.json", "-o", "flow.yaml")
    assert "✗ odd: 'Odd' was a node n8n-nodes-odd.teleport in n8n" in said
    assert "✓ flow.yaml: " in said
    assert "0 errors" in done("validate", "flow.yaml")
    assert done("import", "flow.json").startswith("schema: interlace/v1\nname: Greeting\n")
    made = json.loads(done("import", "flow.json", "--from", "n8n", "--json"))
    assert (made["ok"], made["document"]["name"]) == (True, "Greeting")
    Path("cut.json").write_text(GOOD[:200])
    assert "the file is damaged" in done("import", "cut.json")
    made = json.loads(done("import", "cut.json", "--json"))
    assert (made["ok"], made["document"], [entry["level"] for entry in made["report"]]) == (
        False,
        None,
        ["error"],
    )
    assert "cannot read 'gone.json'" in done("import", "gone.json")
    Path("bytes.json").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in done("import", "bytes.json")


def test_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)

    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(list(arguments)))

    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "a.json").write_text(GOOD)
    (theirs / "b.json").write_text(GOOD[:150])
    (theirs / "notes.txt").write_text("no workflow")
    said = done("import", "theirs", "-o", "ours")
    assert "1/2 ✓ a.json: " in said
    assert "2/2 ✗ b.json: the file is damaged: line 1" in said
    assert "1 of 2 files imported to ours" in said
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["a.yaml"]
    made = json.loads(done("import", "theirs", "--json"))
    assert [(Path(one["file"]).name, one["ok"]) for one in made["results"]] == [
        ("a.json", True),
        ("b.json", False),
    ]
    (tmp_path / "empty").mkdir()
    assert "no YAML or JSON file in 'empty'" in done("import", "empty")


async def test_the_route(api: httpx2.AsyncClient, problem: Problem) -> None:
    answer = await api.post("/api/v1/workflows/import", json={"text": GOOD})
    assert answer.status_code == 200
    made = answer.json()
    assert (made["ok"], made["document"]["name"]) == (True, "Greeting")
    assert made["yaml"].startswith("schema: interlace/v1\n")
    assert (await api.get("/api/v1/workflows")).json()["items"] == []
    answer = await api.post("/api/v1/workflows/import", json={"text": GOOD[:99], "from": "n8n"})
    assert (answer.status_code, answer.json()["ok"], answer.json()["yaml"]) == (200, False, None)
    problem(
        await api.post("/api/v1/workflows/import", json={"text": GOOD, "from": "zapier"}), 422, "bad_request"
    )
