"""What was measured, as rows of a table with target and verdict."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sqlite3
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Figures

FILE = Path(__file__).parent / "RESULTS.md"
MACHINES = "Several machines"
"""The section that `python -m bench.machines` writes."""
PACKAGES = ("interlace", "prefect", "pydantic", "sqlalchemy", "aiosqlite", "httpx2", "uvicorn")
_HEAD = """\
# Measurements

Written by `python -m bench --write`. Every run goes through the public API of a warm process with the journal on SQLite
(two events a node, committed before the next node starts), and every result is checked. Where a limit is given, it and
ours are measured in turn, and the ratio is the median over the pairs: it holds on a busy machine, the times do not. The
limit is what plain asyncio costs, for W1, W2, W3 and W9 with one SQLite row committed at the start and at the end of every
node. The verdict is about the median of the wall time; the best of the series and the CPU time of this process stand beside it.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; numbers are None where they do not apply."""

    name: str
    what: str
    value: float
    unit: str = "ms"
    target: str = ""
    met: bool | None = None
    best: float | None = None
    cpu: float | None = None
    limit: float | None = None
    ratio: float | None = None


def timed(
    name: str, what: str, figures: Figures, *, target: str = "", met: Callable[[Figures], bool] | None = None
) -> Row:
    """The row of a measured time."""
    return Row(
        name, what, figures.wall,
        target=target, met=None if met is None else met(figures), best=figures.best, cpu=figures.cpu,
        limit=figures.limit_wall, ratio=figures.ratio,
    )  # fmt: skip


def at_most(name: str, what: str, value: float, most: float, unit: str) -> Row:
    """The row of a number that must not be greater."""
    return Row(name, what, value, unit, f"≤ {most:g} {unit}", value <= most)


HEADINGS = ("", "what", "measured", "best", "CPU ms", "limit", "to limit", "target", "verdict")


def cells(row: Row) -> list[str]:
    """A row as texts."""
    verdict = "" if row.met is None else "met" if row.met else "**missed**"
    return [
        row.name, row.what, f"{number(row.value)} {row.unit}", number(row.best), number(row.cpu), number(row.limit),
        number(row.ratio), row.target, verdict,
    ]  # fmt: skip


def number(value: float | None) -> str:
    """Three digits that matter."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def machine(load: float) -> str:
    """Where and with what it was measured."""
    installed = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC · {os.cpu_count()} x {_processor()}, {platform.system()} {platform.release()}"
        f" · load at the start {load:.1f}, at the end {os.getloadavg()[0]:.1f} · commit {_commit()}\n\n"
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {installed}"
    )


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=FILE.parent)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def write(groups: Sequence[tuple[str, Sequence[Row]]], load: float) -> None:
    """Write RESULTS.md; sections that are not of these groups stay."""
    kept = {title: text for title, text in _sections().items() if title not in dict(groups)}
    measured = {title: _table(rows) for title, rows in groups if rows}
    _write(f"{_HEAD}\n{machine(load)}", measured | kept)


def write_machines(text: str, rows: Sequence[Row], load: float) -> None:
    """Write the section of machines; the others stay. `text` says how it was measured."""
    write_section(MACHINES, text, rows, load)


def write_section(title: str, text: str, rows: Sequence[Row], load: float) -> None:
    """Write one section; the others stay. `text` says how it was measured."""
    head = FILE.read_text("utf-8").partition("\n## ")[0].rstrip()
    section = "\n\n".join([text, machine(load), _table(rows)])
    _write(head, _sections() | {title: section})


def _write(head: str, sections: Mapping[str, str]) -> None:
    parts = [head, *(f"## {title}\n\n{text}" for title, text in sections.items())]
    FILE.write_text("\n\n".join(parts) + "\n", "utf-8")


def _sections() -> dict[str, str]:
    """What stands in RESULTS.md, by heading."""
    text = FILE.read_text("utf-8") if FILE.exists() else ""
    found = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {title: body.strip() for title, _, body in found}


def _table(rows: Sequence[Row]) -> str:
    head = [_line(HEADINGS), _line(["---"] * 2 + ["--:"] * 5 + ["---"] * 2)]
    return "\n".join([*head, *(_line(cells(row)) for row in rows)])


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"
