"""The pages of the documentation: their code blocks, links, headings and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]

_FENCE = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block; `name` is the file it stands for, if it names one."""

    language: str
    name: str
    text: str


def blocks(path: Path) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(path.read_text("utf-8"))]


def prose(path: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", path.read_text("utf-8"))


def links(path: Path) -> list[str]:
    return _LINK.findall(_INLINE.sub("x", prose(path)))


def anchors(path: Path) -> set[str]:
    """The anchors that headings get: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every table row; heads and rules are left out."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        follows = lines[index + 1] if index + 1 < len(lines) else ""
        if line.startswith("|") and not line.startswith("|-") and not follows.startswith("|-"):
            yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code_of(cell: str) -> str:
    """The text of a cell that is one piece of code."""
    found = _INLINE.fullmatch(cell)
    assert found is not None, cell
    return found[2]
