"""FIM One's list operations and transforms as ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from interlace.importers.fim_one.context import Context
from interlace.importers.fim_one.file import FimNode
from interlace.importers.foreign import Json, mapping, objects, text, texts
from interlace.importers.foreign import whole as whole_number

_OWN: Final = frozenset({"item", "index"})
_CASTS: Final = {"string": "string", "str": "string", "text": "string", "number": "number", "float": "number", "integer": "integer",
                 "int": "integer", "boolean": "boolean", "bool": "boolean", "date": "date", "datetime": "date"}  # fmt: skip


def list_operations(node: FimNode, ctx: Context) -> list[Json]:  # noqa: PLR0911 - one return a case
    """The operation of a list node."""
    data, operation = node.data, text(node.data.get("operation")).lower()
    code = (
        ctx.expression(data.get("expression"), node, own=_OWN).code
        if text(data.get("expression")).strip()
        else ""
    )
    if operation == "slice":
        return [{"slice": [whole_number(data.get("slice_start")) or 0, whole_number(data.get("slice_end"))]}]
    if operation in ("filter", "map"):
        return [{operation: code or "true"}] if operation == "filter" or code else []
    if operation == "sort":
        by: Json = {"by": code} if code else {}
        if text(data.get("order") or data.get("sort_order")).lower() in ("desc", "descending"):
            by["descending"] = True
        return [{"sort": by or True}]
    if operation in ("unique", "deduplicate", "distinct"):
        return [{"unique": {"by": code} if code else True}]
    if operation in ("reverse", "flatten", "count"):
        return [{operation: True}]
    if operation in ("sum", "min", "max", "avg", "average"):
        return [{"avg" if operation == "average" else operation: {"by": code} if code else True}]
    if operation in ("first", "last"):
        return [{"slice": [0, 1] if operation == "first" else [-1, None]}]
    ctx.say(
        "decision", "operation", f"The operation {operation!r} is not known; the list is left as it is.", node
    )
    return []


def _cast(config: Json) -> Json | None:
    wanted = text(config.get("target_type") or config.get("type")).lower()
    if wanted in ("json", "json_string"):
        return {"format": "json"}
    found = _CASTS.get(wanted)
    return {"cast": found} if found else None


def _regex(config: Json) -> Json | None:
    pattern = text(config.get("pattern"))
    if not pattern:
        return None
    if "replacement" in config:
        return {"regex": {"replace": pattern, "with": text(config["replacement"])}}
    return {"regex": {"extract": pattern}}


def _query(config: Json) -> Json | None:
    found = (
        text(config.get("path") or config.get("expression") or config.get("query"))
        .removeprefix("$.")
        .removeprefix("$")
    )
    return {"jmespath": found} if found else None


def _fields(name: str) -> Callable[[Json], Json | None]:
    def write(config: Json) -> Json | None:
        given = texts(config.get("fields")) or texts(config.get("keys"))
        return {name: given} if given else None

    return write


def _rename(config: Json) -> Json | None:
    given = mapping(config.get("mapping")) or mapping(config.get("mappings"))
    return {"rename": {str(old): text(new) for old, new in given.items()}} if given else None


STEPS: Final[dict[str, Callable[[Json], Json | None]]] = {
    "type_cast": _cast, "cast": _cast, "json_parse": lambda _: {"parse": "json"}, "parse_json": lambda _: {"parse": "json"},
    "json_stringify": lambda _: {"format": "json"}, "to_json": lambda _: {"format": "json"}, "regex": _regex, "regex_extract": _regex,
    "regex_replace": _regex, "json_path": _query, "jsonpath": _query, "jmespath": _query, "extract": _query, "pick": _fields("pick"),
    "select": _fields("pick"), "omit": _fields("omit"), "rename": _rename, "csv_parse": lambda _: {"parse": "csv"},
}  # fmt: skip


def transform_steps(node: FimNode, ctx: Context) -> list[Json] | None:
    """The operations of a transform node as steps, None where one of them is not known."""
    del ctx
    made: list[Any] = []
    for entry in objects(node.data.get("operations")):
        write = STEPS.get(text(entry.get("type")).lower())
        step = write(mapping(entry.get("config"))) if write is not None else None
        if step is None:
            return None
        made.append(step)
    return made
