"""n8n's parameters as fields: a text that begins with `=` holds expressions in `{{ }}`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from interlace.importers.expressions import Part, Ref, constant, grouped, mixed, worded
from interlace.importers.foreign import objects, text
from interlace.importers.javascript import NotJavaScript, parse
from interlace.importers.json_template import json_template
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.translate import failing, translate
from interlace.importers.n8n.values import NotTranslated, Value, record, text_value

_LONG: Final = 8_000
"""Longer expressions are not read."""


def unwrapped(value: Any) -> Any:
    """The value of a resource locator or of a mode-and-value pair."""
    if (
        isinstance(value, dict)
        and ("__rl" in value or set(value) <= {"mode", "value", "cachedResultName", "cachedResultUrl"})
        and "value" in value
    ):
        return value["value"]
    return value


@dataclass(frozen=True, slots=True)
class Fields:
    """Reads the parameters of one node in one scope; what cannot be translated is said once and fails at run."""

    scope: Scope
    lost: Callable[[str, str], None]
    """Takes an expression that could not be translated, and why."""

    def parts(self, value: Any) -> list[Part]:
        """A parameter as the pieces of a text."""
        given = unwrapped(value)
        if not isinstance(given, str):
            return [self.value(given).part()] if isinstance(given, dict | list) else [text(given)]
        if not given.startswith("="):
            return [given]
        return [part if isinstance(part, str) else part.part() for part in self._pieces(given[1:])]

    def _pieces(self, source: str) -> list[str | Value]:
        made: list[str | Value] = []
        position = 0
        while (start := source.find("{{", position)) >= 0:
            end = self._end(source, start + 2)
            if end < 0:
                break
            if start > position:
                made.append(source[position:start])
            made.append(self.expression(source[start + 2 : end]))
            position = end + 2
        if position < len(source):
            made.append(source[position:])
        return made

    def _end(self, source: str, start: int) -> int:
        """Where the braces close: the first place at which what stands between them can be read."""
        first = end = source.find("}}", start)
        for _ in range(5):
            if end < 0:
                return first
            try:
                parse(source[start:end])
            except NotJavaScript:
                end = source.find("}}", end + 1)
            else:
                return end
        return first

    def expression(self, source: str) -> Value:
        """One expression; one that fails when it is evaluated, where it cannot be translated."""
        if not source.strip():
            return text_value("")
        try:
            return translate(source, self.scope)
        except NotTranslated as error:
            self.lost(source.strip(), str(error))
            return Value(failing(source, str(error)))

    def value(self, value: Any) -> Value:
        """A parameter as one expression."""
        given = unwrapped(value)
        if isinstance(given, dict):
            return record({str(key): self.value(inner) for key, inner in given.items()})
        if isinstance(given, list):
            return Value(f"[{', '.join(self.value(inner).code for inner in given)}]", "list")
        if isinstance(given, str) and given.startswith("="):
            pieces = self._pieces(given[1:])
            if len(pieces) == 1:
                return text_value(pieces[0]) if isinstance(pieces[0], str) else pieces[0]
            codes = [
                text_value(piece).code if isinstance(piece, str) else grouped(piece.code) for piece in pieces
            ]
            code = " ~ ".join(codes) or "''"
            long = tuple(piece if isinstance(piece, str) else piece.part() for piece in pieces)
            return Value(code, "text", parts=long if len(code) > _LONG else None)
        kinds = {str: "text", bool: "bool", int: "number", float: "number"}
        return Value(constant(given), kinds.get(type(given), "any"))  # type: ignore[arg-type]

    def any(self, value: Any) -> Any:
        """A parameter for a field that takes any value; structures keep their shape."""
        given = unwrapped(value)
        if isinstance(given, dict):
            return {str(key): self.any(inner) for key, inner in given.items()}
        if isinstance(given, list):
            return [self.any(inner) for inner in given]
        if isinstance(given, str):
            return mixed(self.parts(given))
        return given

    def words(self, value: Any) -> str:
        """A parameter for a field that takes a text."""
        return worded(self.parts(value))

    def json(self, value: Any) -> Any:
        """A parameter that holds JSON text: its value, or None where it is no JSON around its expressions."""
        given = unwrapped(value)
        if isinstance(given, dict | list):
            return self.any(given)
        parts = self.parts(given)
        if len(parts) == 1 and isinstance(parts[0], Ref):
            code = parts[0].code
            stringified = code.removesuffix(" | tojson") if code.endswith(" | tojson") else code
            return "{{ " + stringified + " }}" if stringified != code else None
        return json_template(parts)


def pairs(value: Any, *, name: str = "name", content: str = "value") -> list[tuple[str, Any]]:
    """The entries of a list of names and values."""
    return [(text(entry[name]), entry.get(content)) for entry in objects(value) if text(entry.get(name))]
