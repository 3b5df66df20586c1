"""`interlace mcp`: what a user of the operator's catalogue types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlace.server.cli.main import app

CATALOG = """
[servers.files]
description = "Reads the shared folder"
command = ["/opt/mcp/bin/files-server", "{folder}"]

[servers.files.arguments.folder]
choices = ["/srv/shared", "/srv/archive"]
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit):
        app(["mcp", *words])
    printed = capsys.readouterr()
    return printed.out + printed.err


def test_a_program_of_the_catalogue_is_kept_with_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text(CATALOG, "utf-8")
    monkeypatch.setenv("INTERLACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("INTERLACE_MCP_STDIO_CATALOG", str(file))
    monkeypatch.setenv("COLUMNS", "200")
    assert "folder: one of /srv/shared, /srv/archive" in run(capsys, "catalog")
    missing = run(capsys, "add", "files", "--catalog", "files")
    assert "'folder' is missing: it has to be one of /srv/shared, /srv/archive" in missing
    assert "--set folder=" in missing
    assert "is kept" in run(capsys, "add", "files", "--catalog", "files", "--set", "folder=/srv/shared")
    (kept,) = json.loads(run(capsys, "list", "--json"))["items"]
    assert kept["definition"]["arguments"] == {"folder": "/srv/shared"}
