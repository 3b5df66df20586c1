"""`interlace kb`: from a folder to an answer. The commands run in this process, which is quicker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.console import Terminal


def test_from_a_folder_to_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)
    monkeypatch.setenv("INTERLACE_PREFECT", "off")

    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(["kb", *arguments]))

    folder = Path("papers")
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nFive unused days of leave carry over to the next year.\n")
    (folder / "travel.txt").write_text("Travel costs are paid back within ten days.\n")
    (folder / "broken.pdf").write_text("%PDF-1.4 broken")
    (folder / "ignored.bin").write_bytes(b"\0\1")
    assert "✓ handbook is made" in done("create", "handbook", "--description", "Rules of the house")
    assert "3 added or changed, 0 unchanged" in done("add", "handbook", "papers", "--set", "year=2024")
    assert "0 added or changed, 3 unchanged" in done("add", "handbook", "papers", "--set", "year=2024")
    shown = json.loads(done("documents", "handbook", "--json"))["items"]
    assert {d["source"]: d["state"] for d in shown} == {
        "papers/leave.md": "ready", "papers/travel.txt": "ready", "papers/broken.pdf": "failed",
    }  # fmt: skip
    assert "papers/leave.md" in done("search", "handbook", "how many days of leave carry over", "--grounded")
    assert (
        json.loads(done("search", "handbook", "leave", "--where", '{"year": 1999}', "--json"))["chunks"] == []
    )
    assert "confidence" in done("search", "handbook", "who painted the chapel", "--grounded")
    assert "Rules of the house" in done("list")
    assert "2 documents" in done("reindex", "handbook")
    assert json.loads(done("show", "handbook", "--json"))["progress"]["failed"] == 1
    assert "✓" in done("remove", "handbook", "papers/travel.txt")
    assert "✓" in done("remove", "handbook")
    assert "no knowledge base 'handbook'" in done("show", "handbook")
    assert "no file or folder" in done("add", "handbook", "nowhere")
