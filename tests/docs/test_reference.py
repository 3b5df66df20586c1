"""The reference is what the code says, and everything has its place in it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

import interlace.nodes
from interlace.engine.errors import RETRYABLE_KINDS
from interlace.engine.events import EVENT_TYPES
from interlace.engine.kinds import GROUPS, KINDS
from interlace.engine.registry import Registry
from interlace.engine.validate import CODES
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.app import create_app
from interlace.server.cli.main import app
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
SOURCES = ("engine", "nodes", "agents", "resources", "store", "flows", "server")
ERRORS = frozenset({"NodeError", "ExpressionError", "CodeError", "Unanswered", "error_of"})


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "docs/generate.py", *arguments],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_pages_are_current() -> None:
    done = generate("--check")
    assert (done.returncode, done.stderr) == (0, "")


def page(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")


def test_every_node_type_has_its_page() -> None:
    registry = Registry()
    registry.discover(interlace.nodes)
    for kind in registry:
        assert f"[{kind}]({kind}.md)" in page("nodes/README.md")
        assert page(f"nodes/{kind}.md").startswith(f"# {kind}\n")


def test_every_setting_code_and_event_has_its_place() -> None:
    for name in Settings.model_fields:
        assert f"| `INTERLACE_{name.upper()}` |" in page("settings.md")
    for code in CODES:
        assert f"| `{code}` |" in page("validation-codes.md")
    for event in EVENT_TYPES:
        assert f"| `{event}` |" in page("events.md")


async def test_every_route_has_its_place(tmp_path: Path) -> None:
    platform = await Platform.open(Settings(home=tmp_path))
    paths = create_app(platform).openapi()["paths"]
    await platform.close()
    for path, methods in paths.items():
        for method in methods:
            assert f"| `{method.upper()} {path}` |" in page("http-api.md")


def names_of(command: object, path: str) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path
        return
    for name, entry in inner.items():
        yield from names_of(entry, f"{path} {name}")


def test_every_command_has_its_place() -> None:
    for name in names_of(typer.main.get_command(app), "interlace"):
        assert f"\n## {name}\n" in page("commands.md")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*.py"):
            if path != ROOT / "engine" / "kinds.py":
                yield path, ast.parse(path.read_text("utf-8"))


def raised(tree: ast.Module) -> Iterator[str]:
    """The kinds that errors get as written-out texts."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if getattr(call.func, "id", getattr(call.func, "attr", "")) in ERRORS:
            for word in call.keywords:
                if word.arg == "kind" and isinstance(word.value, ast.Constant):
                    yield str(word.value.value)


def test_every_kind_that_is_raised_is_in_the_table() -> None:
    unknown = {path.relative_to(ROOT).as_posix(): set(raised(tree)) - KINDS.keys() for path, tree in trees()}
    assert {path: kinds for path, kinds in unknown.items() if kinds} == {}, "add them to engine/kinds.py"


def test_every_kind_of_the_table_is_used() -> None:
    texts = {
        str(node.value)
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert sorted(KINDS.keys() - texts) == []
    assert len(KINDS) == sum(len(group) for group in GROUPS.values()), "a kind stands in two groups"
    plain = {kind for kind in RETRYABLE_KINDS if not kind.startswith("http_")}
    assert plain <= KINDS.keys()
    for kind, meaning in KINDS.items():
        assert meaning.endswith("."), kind
        assert f"| `{kind}` |" in page("error-kinds.md")


@pytest.mark.parametrize("name", sorted(path.name for path in REFERENCE.glob("*.md")))
def test_no_row_lacks_its_meaning(name: str) -> None:
    for line in page(name).splitlines():
        if line.startswith("| `") and name not in ("http-api.md", "error-kinds.md", "events.md"):
            assert all(cell.strip() for cell in (line.split("|")[1], line.split("|")[-2])), line
