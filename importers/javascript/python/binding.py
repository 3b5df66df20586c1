"""Patterns that take values apart, as assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlace.importers.javascript.syntax import Bind, BindFields, Target

if TYPE_CHECKING:
    from interlace.importers.javascript.python.statements import Body


def bind(target: Target, code: str, body: Body) -> list[str]:
    """The lines that give the names of a pattern their values; the names are declared already."""
    made: list[str] = []
    if target.default is not None:
        held = body.scope.fresh("held")
        default = body.writer().text(target.default)
        made += [f"{held} = {code}", f"if {held} is undefined:", f"    {held} = {default}"]
        code = held
    if isinstance(target, Bind):
        return [*made, f"{body.scope.own(target.name)} = {code}"]
    if not code.isidentifier():
        held = body.scope.fresh("held")
        made.append(f"{held} = {code}")
        code = held
    if isinstance(target, BindFields):
        for key, inner in target.fields:
            made += bind(inner, f"js_get({code}, {key!r})", body)
        if target.rest:
            known = ", ".join(repr(key) for key, _ in target.fields)
            made.append(f"{body.scope.own(target.rest)} = js_rest({code}{', ' if known else ''}{known})")
        return made
    listed = body.scope.fresh("listed")
    made.append(f"{listed} = js_iterate({code})")
    for place, entry in enumerate(target.entries):
        if entry is not None:
            made += bind(entry, f"js_get({listed}, {place})", body)
    if target.rest:
        made.append(f"{body.scope.own(target.rest)} = {listed}[{len(target.entries)}:]")
    return made
