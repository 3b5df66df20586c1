"""JSON Schemas as models read them: with every demand, without what says nothing.

References are written out where that is shorter; titles, long examples, empty keywords and marks of editors go.
Whatever the full schema accepts the compact one accepts too, and the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

_HOLDERS: Final = ("$defs", "definitions")
_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas", *_HOLDERS})
"""Keywords that hold schemas by names which are no keywords."""
_SINGLE: Final = frozenset(
    {
        "items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else", "contains",
        "propertyNames", "contentSchema",
    }
)  # fmt: skip
_LISTED: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NOTES: Final = frozenset(
    {
        "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "nullable", "xml",
        "externalDocs", "discriminator", "$comment",
    }
)  # fmt: skip
"""Keywords that demand nothing."""
_NOISE: Final = frozenset({"$schema", "$comment", "xml", "externalDocs", "discriminator", "title"})
_EMPTY: Final[Mapping[str, tuple[Any, ...]]] = {
    "description": ("",), "default": (None,), "examples": ([],), "required": ([],), "deprecated": (False,),
    "readOnly": (False,), "writeOnly": (False,), "nullable": (False,), "minLength": (0,), "minItems": (0,),
    "minProperties": (0,), "uniqueItems": (False,), "dependentRequired": ({},), "patternProperties": ({},),
}  # fmt: skip
_OPEN: Final[Mapping[str, tuple[Any, ...]]] = {"additionalProperties": (True, {}), "items": (True, {})}
"""Keywords that demand nothing, unless something counts what was looked at."""
_SHORT: Final = 160
_EXAMPLE: Final = 60
"""Bytes of an example that is kept; of several the first one is."""
_DEEP: Final = 60


def compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema in fewer words; one that names itself, or places in itself, in unusual ways keeps its references."""
    return _Compaction(schema).result()


class _Compaction:
    """One schema at work."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = dict(schema)
        seen = _Seen()
        seen.schema(self._schema)
        self._counts_places = bool(seen.keywords & {"unevaluatedProperties", "unevaluatedItems"})
        self._named = {
            f"#/{holder}/{_escaped(name)}": part
            for holder in _HOLDERS
            for name, part in _mapping(self._schema.get(holder)).items()
        }
        odd = {"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "id"} & seen.keywords
        plain = all(ref in self._named for ref in seen.references) and not seen.nested
        self._resolves = plain and not odd
        self._inlined = self._short_ones(seen.references) if self._resolves else frozenset()
        self._reached: set[str] = set()

    def result(self) -> dict[str, Any]:
        """The compact schema."""
        holders: dict[str, Any] = {name: self._schema[name] for name in _HOLDERS if name in self._schema}
        rest = {key: part for key, part in self._schema.items() if key not in _HOLDERS}
        made: dict[str, Any] = self._schema_of(rest if self._resolves else self._schema)
        if not self._resolves:
            return made
        kept: dict[str, dict[str, Any]] = {}
        todo = sorted(self._reached)
        while todo:
            ref = todo.pop(0)
            holder, _, name = ref[2:].partition("/")
            name = name.replace("~1", "/").replace("~0", "~")
            if name in kept.get(holder, {}):
                continue
            before = set(self._reached)
            kept.setdefault(holder, {})[name] = self._schema_of(holders[holder][name])
            todo += sorted(self._reached - before)
        return {**made, **kept}

    def _short_ones(self, references: Counter[str]) -> frozenset[str]:
        """The definitions that are written out where they are named: short ones, and those named once; no circles."""
        to = {ref: {r for r in _refs(part) if r in self._named} for ref, part in self._named.items()}
        circles = {ref for ref in to if _reaches(ref, ref, to)}
        chosen = set()
        for ref, times in references.items():
            if ref in circles:
                continue
            size = len(orjson.dumps(self._named[ref], default=str, option=orjson.OPT_NON_STR_KEYS))
            if times == 1 or size <= _SHORT:
                chosen.add(ref)
        return frozenset(chosen)

    def _schema_of(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, Mapping) or depth > _DEEP:
            return schema
        made: dict[str, Any] = {}
        for key, part in schema.items():
            if self._says_nothing(key, part):
                continue
            made[key] = self._part(key, part, depth)
        return self._merged(self._referred(made, depth))

    def _part(self, key: str, part: Any, depth: int) -> Any:
        if key in _NAMED and isinstance(part, Mapping):
            return {name: self._schema_of(entry, depth + 1) for name, entry in part.items()}
        if key in _SINGLE:
            return self._schema_of(part, depth + 1)
        if key in _LISTED and isinstance(part, list):
            return [self._schema_of(entry, depth + 1) for entry in part]
        return _shorter(key, part)

    def _says_nothing(self, key: str, part: Any) -> bool:
        if key in _NOISE or key.startswith("x-"):
            return True
        if key in _EMPTY and _is_one_of(part, _EMPTY[key]):
            return True
        if key in ("example", "examples"):
            return len(orjson.dumps(part, default=str, option=orjson.OPT_NON_STR_KEYS)) > _EXAMPLE
        loose = self._resolves and not self._counts_places
        return loose and key in _OPEN and _is_one_of(part, _OPEN[key])

    def _referred(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """The schema with its reference written out, or noted as one that is kept."""
        ref = schema.get("$ref")
        if not self._resolves or not isinstance(ref, str):
            return schema
        if ref not in self._inlined:
            self._reached.add(ref)
            return schema
        target = self._schema_of(self._named[ref], depth + 1)
        own = {key: part for key, part in schema.items() if key != "$ref"}
        if isinstance(target, Mapping) and not self._counts_places and own.keys() <= _NOTES:
            return {**target, **own}
        return {**own, "allOf": [*own.get("allOf", []), target]}

    def _merged(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema without an `allOf`, `anyOf` or `oneOf` of one alternative beside notes alone."""
        if not self._resolves:
            return schema
        for key in ("allOf", "anyOf", "oneOf"):
            options = schema.get(key)
            own = {name: part for name, part in schema.items() if name != key}
            if (
                isinstance(options, list) and len(options) == 1 and isinstance(options[0], Mapping)
                and own.keys() <= _NOTES and "$ref" not in options[0]
            ):  # fmt: skip
                return {**options[0], **own}
        return schema


class _Seen:
    """What stands in a schema: keywords, references with how often, and definitions within definitions."""

    def __init__(self) -> None:
        self.keywords: set[str] = set()
        self.references: Counter[str] = Counter()
        self.nested = False

    def schema(self, schema: Any, depth: int = 0) -> None:
        """Look through a schema."""
        if not isinstance(schema, Mapping):
            return
        if depth > _DEEP:
            self.nested = True
            return
        for key, part in schema.items():
            self.keywords.add(key)
            if key == "$ref":
                self.references[str(part)] += 1
            if key in _HOLDERS and depth:
                self.nested = True
            for entry in _parts(key, part):
                self.schema(entry, depth + 1)


def _parts(key: str, part: Any) -> Iterable[Any]:
    """The schemas that a keyword holds."""
    if key in _NAMED:
        return _mapping(part).values()
    if key in _SINGLE:
        return (part,)
    return part if key in _LISTED and isinstance(part, list) else ()


def _shorter(key: str, part: Any) -> Any:
    """The value of a keyword that holds no schema."""
    if key == "type" and isinstance(part, list) and len(part) == 1:
        return part[0]
    if key == "description" and isinstance(part, str):
        return " ".join(part.split())
    return part[:1] if key == "examples" and isinstance(part, list) else part


def _refs(schema: Any) -> set[str]:
    seen = _Seen()
    seen.schema(schema)
    return set(seen.references)


def _reaches(start: str, goal: str, to: Mapping[str, set[str]]) -> bool:
    todo, known = list(to[start]), set()
    while todo:
        here = todo.pop()
        if here == goal:
            return True
        if here not in known:
            known.add(here)
            todo.extend(to[here])
    return False


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_one_of(value: Any, known: tuple[Any, ...]) -> bool:
    """Whether it is one of some values; false and 0 are two."""
    return any(type(value) is type(entry) and value == entry for entry in known)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
