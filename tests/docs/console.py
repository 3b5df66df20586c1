"""Does in a temporary folder what a page shows: writes its files, runs its commands, compares what they print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from interlace.server.cli.main import app
from tests.docs.pages import blocks

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TAIL = re.compile(r"\b[0-9a-f]{6,12}\b")
_CHANGES = (
    (_UUID, "RUN"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "DATE"),
    (re.compile(r" {2,}"), "  "),
)


class Terminal:
    """A folder with a home of its own, in which commands run; `interlace` itself runs in this process, which is quicker."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        for name in [name for name in os.environ if name.startswith("INTERLACE_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("INTERLACE_HOME", str(folder / "home"))
        monkeypatch.setenv("COLUMNS", "160")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.chdir(folder)
        self.ids: dict[str, str] = {}
        """Ids of runs on the page, and those that the commands really gave."""

    def run(self, command: str) -> list[str]:
        """The lines a command prints, on both of its outputs in order."""
        command = _TAIL.sub(self._real, command)
        words = shlex.split(command)
        if words[0] == "interlace":
            return self._interlace(words[1:])
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.splitlines()

    def _interlace(self, words: list[str]) -> list[str]:
        printed = io.StringIO()
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            contextlib.suppress(SystemExit),
        ):
            app(words)
        return printed.getvalue().splitlines()

    def compare(self, command: str, shown: list[str]) -> None:
        """Run a command and compare; ids, times and dates may differ."""
        printed = self.run(command)
        assert [plain(line) for line in printed] == [plain(line) for line in shown], command
        for line, real in zip(shown, printed, strict=True):
            self.ids.update(zip(_UUID.findall(line), _UUID.findall(real), strict=True))

    def _real(self, tail: re.Match[str]) -> str:
        return next((real for shown, real in self.ids.items() if shown.endswith(tail[0])), tail[0])


def plain(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, instead in _CHANGES:
        line = pattern.sub(instead, line)
    return line.rstrip()


def follow(page: Path, terminal: Terminal) -> int:
    """Do everything on the page in order; gives the number of commands."""
    count = 0
    for block in blocks(page):
        if block.name:
            place = terminal.folder / block.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, "utf-8")
        if block.language != "console":
            continue
        assert block.text.startswith("$ "), block.text
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            terminal.compare(command, shown)
            count += 1
    return count
