"""Nodes that make a new item out of one: set, renameKeys, dateTime, html, markdown, xml, crypto."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from interlace.importers.expressions import constant, failing, grouped, is_valid
from interlace.importers.foreign import Json, mapping, number, objects, text, texts
from interlace.importers.n8n.context import param
from interlace.importers.n8n.dates import layout
from interlace.importers.n8n.fields import Fields
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Each
from interlace.importers.n8n.values import NOTHING, NotTranslated, Value, record

_OLD_KINDS: Final = ("string", "number", "boolean", "object", "array")
_UNITS: Final = {"quarter": "months", "year": "years", "month": "months", "week": "weeks", "day": "days", "hour": "hours",
                 "minute": "minutes", "second": "seconds"}  # fmt: skip
_HASHES: Final = {"MD5": "md5", "SHA256": "sha256", "SHA1": "sha1", "SHA512": "sha512", "SHA384": "sha384"}


def edit(node: N8nNode, fields: Fields) -> Value:
    """Set, of all versions."""
    base = _kept(node, fields)
    if node.parameters.get("mode") == "raw":
        made = _raw(node, fields)
        return made if base is None else Value(f"{grouped(base.code)} | combine({made.code})", "object")
    return record(_nested(dict(_assigned(node, fields)), dots=_dots(node)), base)


def _raw(node: N8nNode, fields: Fields) -> Value:
    found = fields.json(node.parameters.get("jsonOutput"))
    if found is None:
        code = fields.value(node.parameters.get("jsonOutput")).code
        return Value(f"{grouped(code)} | fromjson" if code[:1] in "'\"" or " ~ " in code else code, "object")
    return _of_json(found)


def _of_json(value: Any) -> Value:
    """JSON whose texts hold expressions, as one expression."""
    if isinstance(value, dict):
        return record({str(key): _of_json(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return Value(f"[{', '.join(_of_json(inner).code for inner in value)}]", "list")
    if isinstance(value, str) and "{{" in value:
        pieces = [constant(piece) if is_text else grouped(piece.strip()) for piece, is_text in _split(value)]
        return Value(
            pieces[0].removeprefix("(").removesuffix(")")
            if len(pieces) == 1 and pieces[0][:1] == "("
            else " ~ ".join(pieces)
        )
    return Value(constant(value))


def _split(words: str) -> list[tuple[str, bool]]:
    """A text with expressions as its pieces, each with whether it stands for itself."""
    made: list[tuple[str, bool]] = []
    position = 0
    while (start := words.find("{{", position)) >= 0:
        end = words.find("}}", start)
        while end >= 0 and not is_valid(words[start + 2 : end]):
            end = words.find("}}", end + 1)
        if end < 0:
            break
        made += [(words[position:start], True), (words[start + 2 : end], False)]
        position = end + 2
    made.append((words[position:], True))
    return [piece for piece in made if piece[0]]


def _assigned(node: N8nNode, fields: Fields) -> list[tuple[str, Value]]:
    parameters = node.parameters
    made = [
        (
            text(entry.get("name")),
            _cast(fields.value(entry.get("value")), text(entry.get("type")), entry.get("value")),
        )
        for entry in objects(param(node, "assignments", "assignments"))
    ]
    for entry in objects(param(node, "fields", "values")):
        kind = text(entry.get("type")).removesuffix("Value") or "string"
        given = entry.get(f"{kind}Value", entry.get("stringValue"))
        made.append((text(entry.get("name")), _cast(fields.value(given), kind, given)))
    for kind in _OLD_KINDS:
        for entry in objects(mapping(parameters.get("values")).get(kind)):
            given = entry.get("value", "" if kind == "string" else None)
            made.append((text(entry.get("name")), _cast(fields.value(given), kind, given)))
    return [(name, value) for name, value in made if name]


def _cast(value: Value, kind: str, given: Any) -> Value:
    """The value in the type that the node names; what is of that type already is left."""
    constant_given = not (isinstance(given, str) and given.startswith("="))
    if kind == "number":
        found = number(given) if constant_given else None
        if found is not None:
            return Value(constant(int(found) if float(found).is_integer() else found), "number")
        return value if value.kind == "number" else Value(f"{grouped(value.code)} | number", "number")
    if kind == "boolean" and isinstance(given, str) and constant_given:
        return Value("true" if given.lower() == "true" else "false", "bool")
    if kind in ("object", "array") and isinstance(given, str) and constant_given:
        return Value(f"{value.code} | fromjson", "any")
    if kind == "string" and value.kind in ("number", "bool"):
        return Value(f"{grouped(value.code)} | string", "text")
    return value


def _dots(node: N8nNode) -> bool:
    return mapping(node.parameters.get("options")).get("dotNotation") is not False


def _nested(assigned: Mapping[str, Value], *, dots: bool) -> dict[str, Value]:
    """Names with dots as objects inside objects."""
    tree: Json = {}
    for name, value in assigned.items():
        keys = name.split(".") if dots else [name]
        here = tree
        for key in keys[:-1]:
            inner = here.setdefault(key, {})
            if not isinstance(inner, dict):
                inner = here[key] = {}
            here = inner
        here[keys[-1]] = value
    return {key: _branch(inner) for key, inner in tree.items()}


def _branch(value: Any) -> Value:
    return (
        value if isinstance(value, Value) else record({key: _branch(inner) for key, inner in value.items()})
    )


def _kept(node: N8nNode, fields: Fields) -> Value | None:
    """What of the item is kept beside the new fields."""
    parameters, item = node.parameters, fields.scope.current()
    if node.version < 3:  # noqa: PLR2004 - the options changed there
        return None if parameters.get("keepOnlySet") is True else item
    include = text(parameters.get("include"))
    others = (
        parameters.get("includeOtherFields") is True if node.version >= 3.3 else include not in ("none", "")  # noqa: PLR2004 - versions and limits of the format
    )
    if node.version < 3.3 and not include:  # noqa: PLR2004 - all was the default
        others = True
    if not others:
        return None
    if include == "selected":
        names = [name.strip() for name in text(parameters.get("includeFields")).split(",") if name.strip()]
        return record({name: Value(f"{grouped(item.get(name).code)} | default(none)") for name in names})
    if include == "except":
        fields.lost(
            f"include all except {text(parameters.get('excludeFields'))}", "fields that are left out are kept"
        )
    return item


def rename(node: N8nNode, fields: Fields) -> Value:
    """Rename keys: the new names beside the old fields."""
    item = fields.scope.current()
    made = {
        text(entry.get("newKey")): item.get(text(entry.get("currentKey")))
        for entry in objects(param(node, "keys", "key"))
    }
    fields.lost("rename keys", "the old names stay beside the new ones") if made else None
    return record({name: value for name, value in made.items() if name}, item)


def date_time(node: N8nNode, fields: Fields) -> Value:
    """A date: format, compute, part, difference, now."""
    given = node.parameters
    item = fields.scope.current()
    action = text(given.get("operation") or given.get("action") or "format")
    name = (
        text(given.get("outputFieldName"))
        or text(given.get("dataPropertyName"))
        or _NAMES.get(action, "data")
    )
    try:
        return record({name: _date(action, node, fields)}, item if _with_item(node) else None)
    except NotTranslated as error:
        fields.lost(f"dateTime {action}", str(error))
        return record({name: Value(failing(f"a date of n8n that was not translated: {action}"))}, item)


_NAMES: Final = {
    "formatDate": "formattedDate", "addToDate": "newDate", "subtractFromDate": "newDate", "getCurrentDate": "currentDate",
    "extractDate": "datePart", "getTimeBetweenDates": "timeDifference", "roundDate": "roundedDate",
}  # fmt: skip


def _with_item(node: N8nNode) -> bool:
    return node.version < 2 or mapping(node.parameters.get("options")).get("includeInputFields") is True  # noqa: PLR2004 - first form


def _date(action: str, node: N8nNode, fields: Fields) -> Value:
    given = node.parameters
    if action == "getCurrentDate":
        return Value("now()" if given.get("includeTime") is not False else "now() | date", "date")
    source = grouped(fields.value(given.get("date", given.get("magnitude", given.get("value")))).code)
    if source == NOTHING.code and action != "getTimeBetweenDates":
        raise NotTranslated("there is no date")
    if action in ("formatDate", "format"):
        pattern = text(given.get("format") or given.get("toFormat")) or "MM/dd/yyyy"
        if pattern == "custom":
            pattern = text(given.get("customFormat"))
        return Value(f"{source} | format_date({constant(layout(pattern))})", "text")
    if action in ("addToDate", "subtractFromDate", "calculate"):
        unit = _UNITS.get(text(given.get("timeUnit") or "days").rstrip("s"), "days")
        amount = fields.value(given.get("duration", 0)).code
        minus = action == "subtractFromDate" or given.get("operation") == "subtract"
        return Value(f"{source} | add_time({unit}={'-' if minus else ''}{grouped(amount)})", "date")
    if action == "extractDate":
        parts = {
            "year": "%Y",
            "month": "%m",
            "day": "%d",
            "hour": "%H",
            "minute": "%M",
            "second": "%S",
            "week": "%V",
        }
        part = text(given.get("part")) or "month"
        if part not in parts:
            raise NotTranslated(f"the part {part!r} of a date")
        return Value(f"{source} | format_date('{parts[part]}') | int", "number")
    if action == "getTimeBetweenDates":
        start, end = (grouped(fields.value(given.get(key)).code) for key in ("startDate", "endDate"))
        units = texts(given.get("units")) or ["day"]
        return record(
            {
                f"{unit.rstrip('s')}s": Value(f"{end} | date_diff({start}, '{unit.rstrip('s')}s')")
                for unit in units
            }
        )
    raise NotTranslated(f"the operation {action!r}")


def crypto(node: N8nNode, fields: Fields) -> Value:
    """A hash of a text."""
    given = node.parameters
    name = text(given.get("dataPropertyName")) or "data"
    kind = _HASHES.get(text(given.get("type")) or "MD5")
    item = fields.scope.current()
    if (
        text(given.get("action") or "hash") != "hash"
        or kind is None
        or text(given.get("encoding") or "hex") != "hex"
    ):
        fields.lost(
            f"crypto {text(given.get('action'))} {text(given.get('type'))}",
            "only hashes in hex have a counterpart",
        )
        return record({name: Value(failing("a signature of n8n that was not translated"))}, item)
    return record(
        {name: Value(f"{grouped(fields.value(given.get('value')).code)} | hash('{kind}')", "text")}, item
    )


KINDS: Final = {
    "set": Each(pure=edit), "editFields": Each(pure=edit), "renameKeys": Each(pure=rename), "dateTime": Each(pure=date_time),
    "crypto": Each(pure=crypto),
}  # fmt: skip
