"""Parameters of operations, of both levels, as arguments of an action."""

from __future__ import annotations

import re
from typing import Any

from interlace.resources.connectors.definition import Parameter, Place, Style
from interlace.resources.connectors.names import clean_name, free_name
from interlace.resources.connectors.openapi.references import References, Unresolved
from interlace.resources.connectors.openapi.schema import Schemas
from interlace.resources.connectors.report import Report

_PLACES: dict[str, Place] = {
    "path": "path", "query": "query", "header": "header", "cookie": "cookie", "querystring": "querystring",
}  # fmt: skip
_STYLES: dict[str, tuple[Style, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
    "querystring": (),
}
_SET_OTHERWISE = {"accept", "content-type", "authorization"}
_HOLE = re.compile(r"\{([^{}]+)\}")


class Parameters:
    """Reads the parameters of one operation after the other."""

    def __init__(self, references: References, schemas: Schemas, report: Report) -> None:
        self._references = references
        self._schemas = schemas
        self._report = report

    def read(self, shared: Any, own: Any, path: str, place: str) -> list[Parameter]:
        """The parameters of an operation: its own, and those of its path that it does not override."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in [*_listed(shared), *_listed(own)]:
            try:
                parameter = self._references.follow(entry)
            except Unresolved as problem:
                self._report.add("error", problem.code, place, f"a parameter is left out: {problem.message}")
                continue
            key = (str(parameter.get("in")), str(parameter.get("name")))
            found.pop(key, None)
            found[key] = parameter
        made: list[Parameter] = []
        taken: set[str] = set()
        for key, parameter in found.items():
            one = self._one(key, parameter, taken, path, place)
            if one is not None:
                made.append(one)
                taken.add(one.name)
        return [*made, *self._unnamed(path, made, taken, place)]

    def _one(
        self, key: tuple[str, str], parameter: dict[str, Any], taken: set[str], path: str, place: str
    ) -> Parameter | None:
        where, wire = key
        if where not in _PLACES or not isinstance(parameter.get("name"), str):
            self._report.add(
                "error",
                "bad_parameter",
                place,
                f"parameter {wire!r} in {where!r} is left out: there is no such place.",
            )
            return None
        if where == "header" and wire.lower() in _SET_OTHERWISE:
            self._report.add(
                "info", "set_otherwise", place, f"header {wire!r} is no argument: the connector sets it."
            )
            return None
        if where == "path" and f"{{{wire}}}" not in path:
            self._report.add(
                "warning",
                "bad_parameter",
                place,
                f"path parameter {wire!r} is left out: the path does not name it.",
            )
            return None
        base = clean_name(wire) or where
        name = base if base not in taken else free_name(f"{base}_{where}"[:64], taken)
        if name != wire:
            self._report.add(
                "info", "renamed_argument", place, f"{where} parameter {wire!r} is the argument {name!r}."
            )
        content = parameter.get("content")
        media_type, schema = None, parameter.get("schema")
        if isinstance(content, dict) and content:
            media_type = str(next(iter(content)))
            entry = content[media_type]
            schema = entry.get("schema") if isinstance(entry, dict) else None
        style = parameter.get("style")
        if style is not None and style not in _STYLES[where]:
            self._report.add(
                "warning",
                "bad_style",
                place,
                f"parameter {wire!r}: there is no style {style!r} in {where}; the usual one is taken.",
            )
            style = None
        explode = parameter.get("explode")
        return Parameter.model_validate(
            {
                "name": name,
                "key": "" if name == wire else wire,
                "in": where,
                "required": where == "path" or parameter.get("required") is True,
                "description": _text(parameter.get("description")),
                "schema": self._schemas.convert(_with_example(schema, parameter), f"{place} {wire}"),
                "style": style,
                "explode": explode if isinstance(explode, bool) else None,
                "allow_reserved": parameter.get("allowReserved") is True,
                "media_type": media_type,
            }
        )

    def _unnamed(self, path: str, made: list[Parameter], taken: set[str], place: str) -> list[Parameter]:
        """Arguments for names in the path that nothing declares."""
        known = {parameter.wire for parameter in made if parameter.place == "path"}
        added: list[Parameter] = []
        for wire in dict.fromkeys(_HOLE.findall(path)):
            if wire in known:
                continue
            name = free_name(clean_name(wire) or "path", taken)
            taken.add(name)
            self._report.add(
                "warning",
                "undeclared_parameter",
                place,
                f"the path names {wire!r}, which no parameter declares; it takes any text.",
            )
            added.append(
                Parameter.model_validate(
                    {
                        "name": name, "key": "" if name == wire else wire, "in": "path", "required": True,
                        "schema": {"type": "string"},
                    }
                )
            )  # fmt: skip
        return added


def _with_example(schema: Any, parameter: dict[str, Any]) -> Any:
    """The schema with the parameter's example, which says more than a schema does."""
    if "example" not in parameter or not isinstance(schema, dict) or "$ref" in schema or "example" in schema:
        return schema
    return {**schema, "example": parameter["example"]}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
