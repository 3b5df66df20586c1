"""The operator's catalogue: fixed command lines, bounded values, and definitions that cannot bring a command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.resources.mcp import Catalog, CatalogError, HttpServer, StdioServer, read_definition
from interlace.resources.mcp.catalog import Argument, Entry
from interlace.resources.mcp.stdio import command_line

PROGRAM = str(Path(sys.executable).absolute())


def test_a_catalogue_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mcp.toml"
    file.write_text(
        f"""
        [servers.files]
        command = ["{PROGRAM}", "-m", "files", "--root={{folder}}", "{{mode}}"]
        environment = ["TOKEN"]
        [servers.files.arguments.folder]
        pattern = "/srv/[a-z]+"
        [servers.files.arguments.mode]
        choices = ["read", "write"]
        default = "read"
        """
    )
    entry = Catalog.load(file).entry("files")
    assert entry.argv({"folder": "/srv/docs"}) == [PROGRAM, "-m", "files", "--root=/srv/docs", "read"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[servers.x]", "command"),
        ('[servers.x]\ncommand = ["npx", "thing"]', "absolute path"),
        ('[servers.x]\ncommand = ["/bin/x", "{a}"]', "arguments and places in the command differ: a"),
        ('[servers.x]\ncommand = ["/bin/x"]\n[servers.x.arguments.a]\nchoices = []', "differ: a"),
        ('[servers.x]\ncommand = ["/bin/x", "{a}"]\n[servers.x.arguments.a]', "choices"),
        ('[servers.x]\ncommand = ["/bin/x", "{a}"]\n[servers.x.arguments.a]\npattern = "("', "RE2"),
        ('[servers.x]\ncommand = ["/bin/x"]\nshell = true', "shell"),
        ("[servers", "TOML"),
    ],
)
def test_a_wrong_catalogue_is_refused_whole(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "mcp.toml"
    file.write_text(text)
    with pytest.raises(CatalogError, match=words):
        Catalog.load(file)


def test_a_missing_catalogue_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="INTERLACE_MCP_STDIO_CATALOG"):
        Catalog.load(tmp_path / "none.toml")
    with pytest.raises(NodeError, match="has no entry 'files'"):
        Catalog.load(None).entry("files")


@given(st.text())
def test_a_value_never_becomes_an_option_or_leaves_its_bounds(value: str) -> None:
    entry = Entry(command=[PROGRAM, "{place}"], arguments={"place": Argument(pattern="[a-z/-]*")})
    try:
        argv = entry.argv({"place": value})
    except NodeError:
        return
    assert argv[1] == value
    assert not value.startswith("-")
    assert set(value) <= set("abcdefghijklmnopqrstuvwxyz/-")


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "npx", "args": ["-c", "touch x"]},
        {"transport": "stdio", "command": "npx", "args": ["-c", "touch x"]},
        {"transport": "stdio", "catalog": "x", "args": ["-c"]},
        {"url": "https://example.com/mcp", "command": "sh"},
        {"transport": "stdio"},
        {"transport": "pigeon", "url": "https://example.com"},
        {},
        [],
        "npx",
    ],
)
def test_a_definition_brings_no_command(raw: object) -> None:
    with pytest.raises(NodeError) as caught:
        read_definition(raw)
    assert caught.value.kind == "mcp_definition"


def test_definitions_of_both_kinds() -> None:
    assert isinstance(read_definition({"url": "https://example.com/mcp"}), HttpServer)
    assert isinstance(read_definition({"transport": "stdio", "catalog": "files"}), StdioServer)


def test_a_script_sees_what_runs_it(tmp_path: Path) -> None:
    script = tmp_path / "tools" / "bin" / "serve"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{PROGRAM} -I\n")
    line = command_line(Entry(command=[str(script)]), {})
    mounted = {line[at + 1] for at, word in enumerate(line) if word == "--ro-bind"}
    assert {str(tmp_path / "tools"), str(Path(PROGRAM).parents[1])} <= mounted


def test_a_confined_command_line_has_no_network_unless_the_entry_says_so() -> None:
    entry = Entry(command=[PROGRAM, "x"])
    assert "--share-net" not in command_line(entry, {})
    assert "--share-net" in command_line(entry.model_copy(update={"network": True}), {})
    assert command_line(entry.model_copy(update={"sandbox": False}), {}) == [PROGRAM, "x"]
