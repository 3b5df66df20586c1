"""`{{ }}` inside SQL text become parameters where a value may stand; nowhere else are they taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from interlace.engine.errors import NodeError
from interlace.resources.databases.text import line_and_column, pieces
from interlace.resources.databases.url import DIALECTS, Dialect, dialect_of

_OPEN = re.compile(r"\{\{")
# Inside `{{ }}`, quoted text of the expression may hold braces.
_BODY = re.compile(
    r"\{\{((?:[^{}'\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\}|[{}](?![{}]))*)\}\}", re.DOTALL
)
PREFIX = "value_"


@dataclass(frozen=True, slots=True)
class Taken:
    """The SQL with `:value_1` … in place of templates, their expressions by name, and what could not be taken."""

    sql: str
    parameters: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def candidates(url: str) -> tuple[Dialect, ...]:
    """The dialects that a URL which may still hold templates can be of."""
    known = dialect_of(url)
    return DIALECTS if known is None else (known,)


def told_by(refusals: Mapping[Dialect, str]) -> str:
    """Why a statement is refused; of a connector, whose dialect is not known here, by each kind of database in its words."""
    if len(refusals) == 1:
        return next(iter(refusals.values()))
    plain: dict[str, list[str]] = {}
    for dialect, text in refusals.items():
        plain.setdefault(
            text.replace(f" as {dialect} SQL", " as SQL").replace(f" for {dialect}", ""), []
        ).append(dialect)
    if len(plain) == 1:
        return next(iter(plain))
    return " ".join(f"On {', '.join(dialects)}: {text}" for text, dialects in plain.items())


def take_templates(sql: str, dialects: Iterable[Dialect], names: Iterable[str]) -> Taken:
    """Replace each `{{ expression }}` that stands in code by a parameter of a fresh name.

    One inside quotes, a name or a comment is a problem: it would be part of the text, not a value.
    """
    if "{{" not in sql:
        return Taken(sql)
    used, parameters = set(names), dict[str, str]()
    places: dict[str, int] = {}

    def name_it(match: re.Match[str]) -> str:
        number = len(parameters) + 1
        while (name := f"{PREFIX}{number}") in used:
            number += 1
        used.add(name)
        parameters[name] = match[0]
        places[name] = match.start()
        return f":{name}"

    text = _BODY.sub(name_it, sql)
    if _OPEN.search(text):
        return Taken(sql, {}, ("a '{{' has no '}}'",))
    found = _found(text, dialects)
    problems = tuple(
        f"{parameters[name]} at {line_and_column(sql, place)} stands inside quotes or a comment, where no value may stand"
        for name, place in places.items()
        if name not in found
    )
    return Taken(sql, {}, problems) if problems else Taken(text, parameters)


def parameter_names(sql: str, dialects: Iterable[Dialect]) -> frozenset[str] | None:
    """The `:name` parameters that every dialect finds; None where one cannot read the text."""
    try:
        return _found(sql, dialects, strict=True)
    except NodeError:
        return None


def compare_names(sql: str, parameters: Mapping[str, object], dialects: Iterable[Dialect]) -> str | None:
    """What does not fit between the parameters of the text and those given; None where all is well."""
    names = parameter_names(sql, dialects)
    if names is None:
        return None
    missing = [f":{name}" for name in sorted(names - parameters.keys())]
    unused = [repr(name) for name in parameters if name not in names]
    if missing:
        return f"no value for {', '.join(missing)}"
    return f"the SQL has no parameter for {', '.join(unused)}" if unused else None


def _found(text: str, dialects: Iterable[Dialect], *, strict: bool = False) -> frozenset[str]:
    sets: list[frozenset[str]] = []
    for dialect in dialects:
        try:
            sets.append(frozenset(piece.name for piece in pieces(dialect, text) if piece.kind == "parameter"))
        except NodeError:
            if strict:
                raise
    return frozenset.intersection(*sets) if sets else frozenset()
