"""How commands print: tables and text for people, one JSON value for programs, errors with an exit code."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Iterable, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.engine.problems import Problem
from interlace.server.cli import garbage
from interlace.server.encoding import to_json

OK, FAILED, USAGE, UNREACHABLE, SUSPENDED, INTERRUPTED = 0, 1, 2, 3, 3, 130
_EXIT = {
    "not_found": USAGE,
    "conflict": USAGE,
    "unknown_scope": USAGE,
    "unreachable": UNREACHABLE,
    "store": UNREACHABLE,
}
_IDS = frozenset({"id", "run"})
"""Columns whose cells are copied into other commands."""
_LEAST = 8
_PIPE_WIDTH = 1_000_000

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON value, for programs.")]

T = TypeVar("T")


def emit_json(value: Any) -> None:
    """Print one JSON value."""
    text = to_json(value, default=_plain, indent=True)
    sys.stdout.write(text.decode() + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print rows under their column names; `empty` when there are none.

    Ids keep their line on a terminal of any width; in a pipe or a file every row is one line.
    """
    from rich.console import Console
    from rich.table import Table

    found = [[("" if cell is None else str(cell)) for cell in row] for row in rows]
    if not found:
        say(empty)
        return
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        whole = column in _IDS
        width = max(len(row[index]) for row in found) if whole else None
        shown.add_column(column, overflow="fold", no_wrap=whole, min_width=width)
    for row in found:
        shown.add_row(*(cell.replace("[", "\\[") for cell in row))
    console = Console()
    if sys.stdout.isatty():
        widths = [column.min_width or _LEAST for column in shown.columns]
        console.width = max(console.width, sum(widths) + 2 * len(widths))
    else:
        console.width = _PIPE_WIDTH
    console.print(shown)


def say(text: str) -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """A line on standard error: progress and hints, never data."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def stop(text: str, code: int = FAILED) -> NoReturn:
    """End with a message and an exit code."""
    note(f"✗ {text}")
    raise typer.Exit(code)


def run_async(work: Coroutine[Any, Any, T], *, as_json: bool = False) -> T:
    """Run a command's coroutine; the product's own errors become a message and an exit code."""
    garbage.resume()
    try:
        return asyncio.run(work)
    except InterlaceError as error:
        if as_json:
            emit_json({"error": error_json(error)})
        report(error)
        raise typer.Exit(exit_code(error)) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def error_json(error: InterlaceError) -> dict[str, Any]:
    """An error as commands print it for programs: `{type, message}`, of a bad document or bad inputs also `problems`."""
    if isinstance(error, InvalidDocument):
        problems = [problem.as_json() for problem in error.problems]
        return {"type": "validation", "message": str(error), "problems": problems}
    return {"type": getattr(error, "code", None) or getattr(error, "kind", "error"), "message": str(error)}


def exit_code(error: InterlaceError) -> int:
    """2 where the command asks for what there is not, 3 where something does not answer, else 1."""
    if isinstance(error, InvalidDocument):
        return USAGE
    return _EXIT.get(getattr(error, "code", ""), FAILED)


def report(error: InterlaceError) -> None:
    """Say for people what went wrong."""
    if isinstance(error, InvalidDocument):
        print_problems(error.problems)
    else:
        note(f"✗ {error}")


def print_problems(problems: Iterable[Problem], *, file: str = "") -> None:
    """One problem a paragraph: where, what, and the fix."""
    for problem in problems:
        mark = "✗" if problem.severity == "error" else "!"
        line = f":{problem.line}" if problem.line else ""
        where = ".".join(part for part in (problem.node, problem.field) if part)
        place = f"{file}{line}" if file else (f"line {problem.line}" if problem.line else "")
        head = " ".join(part for part in (place, where) if part)
        note(f"{mark} {head}{': ' if head else ''}{problem.message} [{problem.code}]")
        if problem.fix:
            note(f"    → {problem.fix}")
