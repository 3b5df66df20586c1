from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.events import Event
from interlace.server.cli.inputs import unknown_inputs
from interlace.server.cli.output import table
from interlace.server.cli.progress import Progress
from tests.server.command import Command

ID = "01890a5d-ac96-774b-bcce-b302099a8057"
ROWS = [(ID, "succeeded", "word " * 60)]
IN_A_TERMINAL = f"""
from interlace.server.cli.output import table
table(["run", "status", "workflow"], [({ID!r}, "succeeded", "word " * 60)], empty="")
"""


def test_a_pipe_has_a_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    table(["run", "status", "workflow"], ROWS, empty="none")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["run", ID]
    assert lines[1].count("word") == 60


@pytest.mark.parametrize("columns", ["30", "60"])
def test_a_narrow_terminal_keeps_ids_whole(columns: str) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", IN_A_TERMINAL], stdout=theirs, env={**os.environ, "COLUMNS": columns, "TERM": "dumb"},
            check=True,
        )  # fmt: skip
        assert done.returncode == 0
        assert f"\n{ID} " in os.read(ours, 100_000).decode()
    finally:
        os.close(theirs)
        os.close(ours)


def test_hidden_inner_nodes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("r1", enabled=True) as progress:
        for index in range(23):
            progress.show(Event("node.succeeded", f"each[{index}].call", data={"elapsed_ms": 1}))
        progress.show(Event("node.succeeded", "each", data={"elapsed_ms": 30}))
        progress.show(Event("node.succeeded", "after", data={"elapsed_ms": 1}))
    lines = capsys.readouterr().err.splitlines()
    assert lines[20:] == ["… 3 more inner nodes (interlace runs show r1)", "✓ each  30 ms", "✓ after  1 ms"]


@pytest.mark.parametrize(
    ("schema", "given", "hints"),
    [
        ({"properties": {"who": {}}}, ["whoo"], ["no input 'whoo'; did you mean 'who'?"]),
        ({"properties": {"who": {}, "n": {}}}, ["zzz", "n"], ["no input 'zzz'; there is who, n"]),
        ({"properties": {"who": {}}, "additionalProperties": False}, ["whoo"], []),
        ({"properties": {"who": {}}, "additionalProperties": True}, ["whoo"], []),
        ({}, ["whoo"], []),
    ],
)
def test_unknown_inputs(schema: dict[str, Any], given: list[str], hints: list[str]) -> None:
    assert unknown_inputs(schema, given) == hints


def test_files_that_cannot_be_read_are_exit_2(command: Command) -> None:
    folder = Path(command.folder)
    (folder / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    (folder / "control.yaml").write_bytes(b"name: a\x01\n")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "bad.yaml").write_text("name: [\n")
    names = ["latin.yaml", "control.yaml", "loop.yaml", "folder.yaml", "gone.yaml", "x" * 300 + ".yaml"]
    together = command("validate", "bad.yaml", *names, "--json")
    assert together.code == 2
    codes = [result["problems"][0]["code"] for result in together.json["results"]]
    assert codes == ["syntax", "encoding", "encoding", *["unreadable_file"] * 4]
    assert command("validate", "latin.yaml").code == 2
    assert command("validate", "bad.yaml").code == 1
