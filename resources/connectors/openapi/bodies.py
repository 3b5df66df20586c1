"""Request bodies in all their media types, and the schema of a good answer."""

from __future__ import annotations

from typing import Any

from interlace.engine.document import JsonSchema as Schema
from interlace.resources.connectors.definition import Body
from interlace.resources.connectors.openapi.references import References, Unresolved
from interlace.resources.connectors.openapi.schema import FILE_OR_TEXT, Schemas
from interlace.resources.connectors.report import Report

_QUERY_STYLES = frozenset({"form", "spaceDelimited", "pipeDelimited", "deepObject"})
_GOOD = ("200", "201", "202", "203", "2XX", "2xx", "206", "204", "default")


class Bodies:
    """Reads bodies of one operation after the other."""

    def __init__(self, references: References, schemas: Schemas, report: Report) -> None:
        self._references = references
        self._schemas = schemas
        self._report = report

    def request(self, value: Any, place: str) -> tuple[list[Body], bool]:
        """The bodies that an operation takes, JSON first, and whether one is needed."""
        if value is None:
            return [], False
        try:
            body = self._references.follow(value)
        except Unresolved as problem:
            self._report.add("error", problem.code, place, f"the body is left out: {problem.message}")
            return [], False
        content = body.get("content")
        if not isinstance(content, dict) or not content:
            self._report.add("warning", "no_body", place, "the body names no media type; it is left out.")
            return [], False
        made: list[Body] = []
        for kind, entry in sorted(content.items(), key=lambda item: preference(str(item[0]))):
            one = self._body(str(kind), entry if isinstance(entry, dict) else {}, place)
            if all(one.media_type != known.media_type for known in made):
                made.append(one)
        return made, body.get("required") is True

    def _body(self, kind: str, entry: dict[str, Any], place: str) -> Body:
        entry = self._media_type(entry, place)
        schema = entry.get("schema")
        where = f"{place} body"
        made: Schema = self._schemas.convert(schema, where)
        if not is_json(kind) and not is_form(kind) and kind != "*/*":
            if made.get("type") == "string" and made.get("format") == "byte":
                pass  # base64, a text on the wire too
            elif not is_text(kind):
                made = {**FILE_OR_TEXT, **{k: v for k, v in made.items() if k in ("title", "description")}}
            elif made.get("type") not in (None, "string") or "$ref" in made:
                self._report.add(
                    "warning",
                    "text_body",
                    place,
                    f"a body of {kind} is given as text; its schema is not checked.",
                )
                made = {"type": "string"}
        if "itemSchema" in entry and not made:
            made = {"type": "array", "items": self._schemas.convert(entry["itemSchema"], where)}
        return Body.model_validate(
            {"media_type": kind, "schema": made, "encoding": self._encoding(entry.get("encoding"), place)}
        )

    def _media_type(self, entry: dict[str, Any], place: str) -> dict[str, Any]:
        try:
            return self._references.follow(entry)
        except Unresolved as problem:
            self._report.add("warning", problem.code, place, f"any body is taken: {problem.message}")
            return {}

    def _encoding(self, value: Any, place: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, entry in value.items() if isinstance(value, dict) else ():
            if not isinstance(entry, dict):
                continue
            style, explode, kind = entry.get("style"), entry.get("explode"), entry.get("contentType")
            if style is not None and style not in _QUERY_STYLES:
                self._report.add(
                    "warning",
                    "bad_style",
                    place,
                    f"field {name!r}: there is no style {style!r} in forms; the usual one is taken.",
                )
                style = None
            made[str(name)] = {
                "media_type": kind.partition(",")[0].strip() if isinstance(kind, str) else None,
                "style": style,
                "explode": explode if isinstance(explode, bool) else None,
                "allow_reserved": entry.get("allowReserved") is True,
            }
        return made

    def answer(self, value: Any, place: str) -> tuple[Schema, str]:
        """Schema of a good answer's body, and the Accept header that asks for it."""
        if not isinstance(value, dict):
            return {}, ""
        status = next((status for status in _GOOD if status in value), None)
        if status is None:
            status = next((str(key) for key in value if str(key).startswith("2")), None)
        if status is None:
            return {}, ""
        try:
            response = self._references.follow(value[status])
        except Unresolved as problem:
            self._report.add(
                "warning", problem.code, place, f"the answer's schema is left out: {problem.message}"
            )
            return {}, ""
        content = response.get("content")
        if not isinstance(content, dict) or not content:
            return {}, ""
        kinds = sorted(map(str, content), key=preference)
        entry = content[kinds[0]]
        schema = (
            self._schemas.convert(entry.get("schema"), f"{place} answer") if isinstance(entry, dict) else {}
        )
        accept = ", ".join(kinds) if all(_sendable(kind) for kind in kinds) else ""
        return schema, accept


def preference(kind: str) -> tuple[int, str]:
    """Sorts media types: JSON, forms, texts, then the rest."""
    plain = kind.partition(";")[0].strip().lower()
    if plain == "application/json":
        return 0, ""
    if is_json(kind):
        return 1, plain
    if is_form(kind):
        return (2, "") if plain.startswith("application") else (3, "")
    return (4, plain) if is_text(kind) else (5, plain)


def is_json(kind: str) -> bool:
    """Whether a media type is JSON."""
    plain = kind.partition(";")[0].strip().lower()
    return plain == "application/json" or plain.endswith(("+json", "/json"))


def is_form(kind: str) -> bool:
    """Whether a media type is one of forms."""
    plain = kind.partition(";")[0].strip().lower()
    return plain in ("application/x-www-form-urlencoded", "multipart/form-data")


def is_text(kind: str) -> bool:
    """Whether a media type is text."""
    plain = kind.partition(";")[0].strip().lower()
    return plain.startswith("text/") or plain.endswith(
        ("/xml", "+xml", "/yaml", "+yaml", "/sdp", "x-ndjson", "/sql")
    )


def _sendable(kind: str) -> bool:
    return kind.isascii() and kind.isprintable() and "/" in kind
