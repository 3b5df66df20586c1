"""What pydantic finds wrong with a document or a config, in the words of a person who writes workflows."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from interlace.engine.problems import nearest
from interlace.engine.source.places import Step

Path: TypeAlias = tuple[Step, ...]
_EXPECTED = {
    "string": "text", "int": "a whole number", "float": "a number", "decimal": "a number", "bool": "true or false",
    "list": "a list", "tuple": "a list", "set": "a list", "dict": "a mapping of names to values",
    "mapping": "a mapping of names to values", "model": "a mapping of names to values", "none": "null",
    "dataclass": "a mapping of names to values", "date": "a date (2026-01-31)", "time": "a time (12:30)",
    "datetime": "a date-time (2026-01-31T12:30:00Z)", "url": "a URL", "uuid": "a UUID",
}  # fmt: skip
_COMPARISONS = {
    "greater_than": ("gt", "more than"), "greater_than_equal": ("ge", "at least"), "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"), "multiple_of": ("multiple_of", "a multiple of"),
}  # fmt: skip
_LENGTHS = {
    "too_short": ("min_length", "at least", "entry"), "too_long": ("max_length", "at most", "entry"),
    "string_too_short": ("min_length", "at least", "character"), "string_too_long": ("max_length", "at most", "character"),
}  # fmt: skip
_THINGS: dict[Step, str] = {"nodes": "a node", "edges": "an edge", "cases": "a case"}
_IDENTIFIER = "^[A-Za-z_][A-Za-z0-9_]*$"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a value: where (keys and indexes from the validated root), and in which words."""

    code: str
    path: Path
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class _Whole:
    """What is validated, and how messages call it."""

    model: type[BaseModel]
    raw: Any
    root: str

    def of(self, path: Sequence[Step]) -> str:
        """Which thing a field belongs to: ` of a node`, ` in retry`."""
        if not path:
            return f" {self.root}"
        if isinstance(path[-1], int) and len(path) > 1 and path[-2] in _THINGS:
            return f" of {_THINGS[path[-2]]}"
        names = [step for step in path if isinstance(step, str)]
        return f" in {names[-1]}" if names else ""


def faults(error: ValidationError, model: type[BaseModel], raw: Any, root: str) -> list[Fault]:
    """The faults of `raw` as `model`, one for each place; `root` names the whole: `of a document`, `in config`."""
    by_place: dict[tuple[Step, ...], list[ErrorDetails]] = {}
    through_union = set()
    for details in error.errors(include_url=False):
        path = _real_path(details["loc"], raw, missing=details["type"] == "missing")
        by_place.setdefault(path, []).append(details)
        if len(path) < len(details["loc"]):
            through_union.add(path)
    shadowed = {
        path
        for path in through_union
        if any(len(other) > len(path) and other[: len(path)] == path for other in by_place)
    }
    whole = _Whole(model, raw, root)
    return [_fault(path, group, whole) for path, group in by_place.items() if path not in shadowed]


def _real_path(location: Sequence[Step], raw: Any, *, missing: bool) -> tuple[Step, ...]:
    """The location without the names that pydantic adds for members of unions and validators."""
    path: list[Step] = []
    value = raw
    for position, step in enumerate(location):
        last = position == len(location) - 1
        inside_map = isinstance(value, dict) and step in value
        inside_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if inside_map or inside_list:
            value = value[step]
        elif not (last and missing):
            continue
        path.append(step)
    return tuple(path)


def _fault(path: Path, group: list[ErrorDetails], whole: _Whole) -> Fault:
    first = group[0]
    kind = first["type"]
    if kind == "missing":
        return _missing(path, whole)
    if kind == "extra_forbidden":
        return _unknown(path, whole)
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return _tag(path, first, whole)
    if kind in {"literal_error", "enum"} and len(group) == 1:
        return _not_one_of(path, str(first.get("ctx", {}).get("expected", "")), first["input"])
    wanted = list(dict.fromkeys(text for text in map(_expected, group) if text))
    if wanted and len(wanted) == len(group):
        message = f"{_name(path)} must be {' or '.join(wanted)}, not {described(first['input'])}."
        return Fault("wrong_type", path, message)
    return _other(path, next((details for details in group if not _expected(details)), first))


def _missing(path: Path, whole: _Whole) -> Fault:
    message = f"The field {path[-1]!r}{whole.of(path[:-1])} is required."
    return Fault("missing_field", path, message, f"Add {path[-1]}: …")


def _tag(path: Path, details: ErrorDetails, whole: _Whole) -> Fault:
    """The field that says which of several shapes is meant is missing or names none of them."""
    context, value = details.get("ctx", {}), details["input"]
    field = str(context.get("discriminator", "")).strip("'")
    inside = isinstance(value, dict) and field.isidentifier()
    if details["type"] == "union_tag_not_found" and inside:
        return _missing((*path, field), whole)
    if inside and isinstance(value, dict) and field in value:
        return _not_one_of((*path, field), str(context.get("expected_tags", "")), value[field])
    return Fault("wrong_type", path, f"{_name(path)} cannot be {described(value)}.")


def _expected(details: ErrorDetails) -> str | None:
    kind = details["type"]
    if kind in {"literal_error", "enum"}:
        return f"one of {details.get('ctx', {}).get('expected', '')}"
    head, _, tail = kind.partition("_")
    if head in _EXPECTED and tail in {
        "type",
        "parsing",
        "from_float",
        "attributes_type",
        "required",
        "parsing_size",
        "unicode",
    }:
        return _EXPECTED[head]
    return "a list" if kind == "iterable_type" else None


def _other(path: Path, details: ErrorDetails) -> Fault:
    kind, context, value = details["type"], details.get("ctx", {}), details["input"]
    too_long = kind == "string_too_long" and path[-1:] == ("id",)
    if too_long or (kind == "string_pattern_mismatch" and context.get("pattern") == _IDENTIFIER):
        fix = "Use letters, digits and underscores, not beginning with a digit, at most 64; a label may hold any text."
        return Fault("bad_id", path, f"An id cannot be {described(value)}.", fix)
    if kind == "string_pattern_mismatch":
        return Fault(
            "bad_value",
            path,
            f"{_name(path)} does not match the pattern {context.get('pattern')}: {described(value)}.",
        )
    if kind in _COMPARISONS:
        key, words = _COMPARISONS[kind]
        return Fault(
            "out_of_range",
            path,
            f"{_name(path)} must be {words} {_number(context[key])}, not {described(value)}.",
        )
    if kind in _LENGTHS:
        key, words, unit = _LENGTHS[kind]
        return Fault("out_of_range", path, f"{_name(path)} must have {words} {_counted(context[key], unit)}.")
    if kind == "value_error":
        message = str(context.get("error", details["msg"]))
        return Fault(
            "bad_duration" if "duration" in message else "bad_value", path, f"{_name(path)}: {message}."
        )
    return Fault("bad_value", path, f"{_name(path)}: {details['msg'][:1].lower()}{details['msg'][1:]}.")


def _counted(count: int, unit: str) -> str:
    return f"1 {unit}" if count == 1 else f"{count} {'entries' if unit == 'entry' else unit + 's'}"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _not_one_of(path: Path, expected: str, value: Any) -> Fault:
    known = [part.strip("'\" ") for part in expected.replace(" or ", ", ").split(",")]
    guess = nearest(value, known) if isinstance(value, str) else None
    fix = f"Did you mean {guess!r}?" if guess else None
    message = f"{_name(path)} must be one of {', '.join(known)}, not {described(value)}."
    return Fault("bad_value", path, message, fix)


def _unknown(path: Path, whole: _Whole) -> Fault:
    here: Any = whole.raw
    for step in path[:-1]:
        here = here[step]
    models = _models_at(whole.model, path[:-1])
    meant = [model for model in models if _accepts_tags(model, here)] or models
    known = sorted(
        {info.alias or name for model in meant for name, info in model.model_fields.items()} - {str(path[-1])}
    )
    name = str(path[-1])
    guess = nearest(name, [field for field in known if field not in here] or known)
    fix = f"Did you mean {guess!r}?" if guess else f"Known: {', '.join(known)}." if known else None
    return Fault("unknown_field", path, f"There is no field {name!r}{whole.of(path[:-1])}.", fix)


def _accepts_tags(model: type[BaseModel], raw: Any) -> bool:
    """Whether the fields of a value that say which shape it has (`type: bearer`) fit a model."""
    for name, info in model.model_fields.items():
        if get_origin(info.annotation) is Literal and raw.get(info.alias or name) not in (
            None,
            *get_args(info.annotation),
        ):
            return False
    return True


def _models_at(model: type[BaseModel], path: Sequence[Step]) -> list[type[BaseModel]]:
    """The models that may stand at a path: several where a union does."""
    here: list[Any] = [model]
    for step in path:
        here = [inner for annotation in here for inner in _inside(annotation, step)]
    return [found for annotation in here for found in _members(annotation) if _is_model(found)]


def _inside(annotation: Any, step: Step) -> Iterator[Any]:
    for member in _members(annotation):
        if _is_model(member):
            for name, info in member.model_fields.items():
                if step in (name, info.alias):
                    yield info.annotation
        elif get_origin(member) in {list, tuple, set, frozenset}:
            yield from get_args(member)
        elif get_origin(member) is dict:
            yield get_args(member)[1]


def _members(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in {Union, types.UnionType}:
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _name(path: Sequence[Step]) -> str:
    return next((repr(step) for step in reversed(path) if isinstance(step, str)), "The value")


def described(value: Any) -> str:
    """A value as a message names it: `the text 'abc'`, `a list`, `the number 5`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 40 else value[:39] + '…'!r}"  # noqa: PLR2004 - what fits in a line
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def dotted(path: Sequence[Step]) -> str:
    """A path as a problem names it: `config.cases[0].when`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
