"""`interlace skills` and `interlace agents`: from a file into the home and out again. In this process, which is quicker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.console import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal(tmp_path, monkeypatch)
    monkeypatch.setenv("INTERLACE_PREFECT", "off")
    return made


def test_skills(terminal: Terminal) -> None:
    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(["skills", *arguments]))

    folder = Path("pack/返金")
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: 返金\ndescription: How refunds are made\n---\n\nAsk first.\n"
    )
    (folder / "scripts/a.py").write_text("print(1)\n")
    assert "✓ 返金 is kept, with 1 files beside its text" in done("add", "pack")
    assert "you see a skill '返金' already" in done("add", "pack/返金")
    assert "✓ 返金" in done("add", "pack/返金/SKILL.md", "--replace")
    assert "✓ 返金" in done("add", "pack/返金", "--replace")
    assert "How refunds are made" in done("list")
    assert "Ask first." in done("show", "返金")
    assert "print(1)" in json.loads(done("show", "返金", "--json"))["text"]
    assert "is written to out/返金" in done("export", "返金", "-o", "out")
    assert (Path("out/返金/SKILL.md")).read_text() == (folder / "SKILL.md").read_text()
    assert "there is something" in done("export", "返金", "-o", "out")
    assert "✓" in done("export", "返金", "-o", "out/x.zip")
    assert "switched off" in done("disable", "返金")
    assert json.loads(done("list", "--json"))["items"][0]["active"] is False
    assert "switched on" in done("enable", "返金")
    assert "✓" in done("remove", "返金")
    assert "✓ 返金" in done("add", "out/x.zip")
    assert "cannot read 'nowhere'" in done("add", "nowhere")
    assert "no skill 'other'" in done("show", "other")


def test_agents(terminal: Terminal) -> None:
    def done(*arguments: str) -> str:
        return "\n".join(terminal._interlace(["agents", *arguments]))

    Path("trader.md").write_text("---\ndescription: Trades\ntool_categories: [web]\n---\n\nYou trade.\n")
    assert "interlace chat --agent trader" in done("add", "trader.md")
    assert "there is an agent 'trader' already" in done("add", "trader.md")
    Path("trader.yaml").write_text("name: trader\ndescription: Trades more\ninstructions: You trade.\n")
    assert "✓" in done("add", "trader.yaml", "--replace")
    assert "Trades more" in done("list")
    assert "instructions: You trade." in done("show", "trader")
    assert done("export", "trader") == Path("trader.yaml").read_text().rstrip()
    assert "✓" in done("export", "trader", "-o", "out.yaml")
    assert Path("out.yaml").read_text() == Path("trader.yaml").read_text()
    assert json.loads(done("show", "trader", "--json"))["definition"]["instructions"] == "You trade."
    assert "switched off" in done("disable", "trader")
    assert "switched on" in done("enable", "trader")
    terminal._interlace(["org", "create", "acme"])
    Path("hooks.yaml").write_text("- {event: pre_tool_use, match: 'mail*', do: deny, message: No mail.}\n")
    assert "mail*" in done("hooks", "acme", "--file", "hooks.yaml")
    assert json.loads(done("hooks", "acme", "--json"))["hooks"][0]["message"] == "No mail."
    assert "✓" in done("remove", "trader")
    assert "no agent 'trader'" in done("show", "trader")
