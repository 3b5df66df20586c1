"""Writes that a person confirms: what is shown, and whether the database is still the one that it was shown for."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from interlace.engine.errors import NodeError
from interlace.engine.waits import DAY, TIMEOUT, Answer, Wanted
from interlace.resources.databases.stored import DatabaseDefinition, OpenDatabase

_SECONDS = 7 * DAY
_SHOWN_ROWS = 20
_NOTES = {"tables", "description", "max_rows", "max_exported_rows", "timeout"}


def confirmation(opened: OpenDatabase, config: Mapping[str, Any], *, path: str, now: float) -> Wanted:
    """The request to a person: the exact statement with its values, as `config` has them evaluated."""
    name = opened.resource.name
    request = {
        "title": f"Change data in {name}?",
        "message": f"The node **{path}** does this in the database **{name}** once it is confirmed; the database asks for"
        f" that.\n\n{_shown(config)}",
        "actions": ["approve", "reject"],
        "config": dict(config),
    }  # fmt: skip
    state = {"config": dict(config), "database_id": opened.resource.id, "mark": _mark(opened.definition)}
    return Wanted(kind="human", request=request, until=now + _SECONDS, state=state)


def require(answer: Answer) -> None:
    """Do nothing where a person agreed.

    Raises:
        NodeError: `not_confirmed`.
    """
    if answer.action == "approve":
        return
    who = "nobody confirmed it in time" if answer.action == TIMEOUT else f"{answer.by} did not confirm it"
    because = f": {answer.comment}" if answer.comment else ""
    raise NodeError(f"{who}{because}; nothing was changed.", kind="not_confirmed", retryable=False)


def require_same(opened: OpenDatabase, state: Mapping[str, Any]) -> None:
    """Do nothing where the database is the one that was shown.

    Raises:
        NodeError: `not_confirmed`.
    """
    if (opened.resource.id, _mark(opened.definition)) != (state["database_id"], state["mark"]):
        raise NodeError(
            f"the database {opened.resource.name!r} was changed after the write was confirmed; run again.",
            kind="not_confirmed", retryable=False,
        )  # fmt: skip


def _shown(config: Mapping[str, Any]) -> str:
    if config.get("operation") == "insert_many":
        rows = config.get("rows", [])
        what = f"Insert {len(rows):,} rows into `{config['table']}`:\n\n{_block('json', _lines(rows))}"
        more = len(rows) - _SHOWN_ROWS
        return what + (f"\n\n… and {more:,} more; all of them stand in the request." if more > 0 else "")
    values = config.get("parameters")
    text = _block("sql", str(config["sql"]))
    return text + (f"\n\nwith\n\n{_block('json', _json(values, indent=2))}" if values else "")


def _lines(rows: list[Any]) -> str:
    return "\n".join(_json(row) for row in rows[:_SHOWN_ROWS])


def _block(language: str, text: str) -> str:
    """A block of code that its own text cannot end."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _mark(definition: DatabaseDefinition) -> str:
    """What tells a database that was changed from the one that was shown; notes and limits do not count."""
    shown = definition.model_dump_json(by_alias=True, exclude=_NOTES)
    return hashlib.sha256(shown.encode()).hexdigest()
