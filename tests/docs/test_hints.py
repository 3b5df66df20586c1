"""A command that an error or a description names is one that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from interlace.resources.lookup import resource_not_found
from interlace.server.cli.main import app
from tests.docs.pages import ROOT

LAYERS = ("engine", "nodes", "agents", "flows", "importers", "resources", "server", "store")
HINT = re.compile(r"`interlace ([^`{]+)")
KINDS = ("connector", "database", "mcp_server", "knowledge_base", "model", "skill", "agent", "workflow")


def hints() -> Iterator[tuple[str, str]]:
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            for words in HINT.findall(path.read_text("utf-8")):
                yield path.relative_to(ROOT).as_posix(), words


def unknown(words: str) -> str | None:
    """The first word that is no command where one is needed."""
    found: Any = typer.main.get_command(app)
    for word in words.split():
        commands = getattr(found, "commands", None)
        if commands is None or not re.fullmatch(r"[a-z][a-z-]*", word):
            return None
        if word not in commands:
            return word
        found = commands[word]
    return None


def test_every_command_that_is_named_is_there() -> None:
    every = list(hints())
    assert len(every) > 20
    assert [(path, words) for path, words in every if unknown(words)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_found_names_the_list_of_its_kind(kind: str) -> None:
    words = HINT.findall(resource_not_found(kind, "x").message)
    assert words
    assert unknown(words[0]) is None
    assert words[0].endswith(" list")


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert unknown("knowledge list") == "knowledge"
    assert unknown("kb list") is None
    assert unknown("run x.yaml") is None
