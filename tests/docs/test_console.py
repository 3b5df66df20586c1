"""What the guide shows in a console is what the program prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from interlace.server.cli.main import app
from tests.docs.console import Terminal, follow
from tests.docs.pages import GUIDE, PAGES, ROOT, blocks

SHOWN = [path for path in GUIDE if any(block.language == "console" for block in blocks(path))]
PLUG_IN = ROOT / "docs" / "guide" / "node-type.md"


@pytest.mark.parametrize(
    "page", [path for path in SHOWN if path != PLUG_IN], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_the_console_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert follow(page, Terminal(tmp_path, monkeypatch)) > 0


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every call of `interlace` in the documentation: page and words."""
    for path in PAGES:
        for block in blocks(path):
            if block.language not in ("sh", "console"):
                continue
            lines = block.text.replace("\\\n", " ").splitlines()
            for line in lines if block.language == "sh" else [x[2:] for x in lines if x.startswith("$ ")]:
                words = shlex.split(line, comments=True)
                if "interlace" in words:
                    yield path.name, words[words.index("interlace") + 1 :]


@pytest.mark.parametrize(
    ("page", "words"),
    list(commands()),
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_every_command_exists(page: str, words: list[str]) -> None:
    command = typer.main.get_command(app)
    rest = list(words)
    while (inner := getattr(command, "commands", None)) is not None:
        assert rest[0] in inner, f"{page}: {rest[0]}"
        command = inner[rest.pop(0)]
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in rest:
        if re.match(r"--?[a-z]", word):
            assert word in options, f"{page}: {word}"


def test_the_scripts_of_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for script in ("scripts/up.py", "scripts/check.py"):
        assert f"python3 {script}" in text
        assert (ROOT / script).is_file()
    for lock in ("requirements.lock", "requirements-dev.lock"):
        assert lock in text
        assert "--hash=sha256:" in (ROOT / lock).read_text("utf-8")


def test_python_programs_of_the_pages_exist() -> None:
    for path in PAGES:
        for block in blocks(path):
            for program in re.findall(
                r"python3? ((?:\w+/)+\w+\.py)", block.text if block.language == "sh" else ""
            ):
                assert (ROOT / program).is_file(), f"{path.name}: {program}"
