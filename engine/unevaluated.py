"""Which fields of an object a JSON Schema has looked at, for `unevaluatedProperties`; patterns run in linear time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.expressions.filters.data import regex

_REFERENCES = ("$ref", "$dynamicRef")
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_REST = ("additionalProperties", "unevaluatedProperties")


def evaluated(validator: Any, instance: Mapping[str, Any], schema: Any) -> set[str]:
    """The names that the schema, or a part of it that fits the object, says something about."""
    if not isinstance(schema, Mapping):
        return set()
    found = _named(validator, instance, schema) | _referred(validator, instance, schema)
    for name, part in schema.get("dependentSchemas", {}).items():
        if name in instance:
            found |= evaluated(validator, instance, part)
    for keyword in _ALTERNATIVES:
        for part in schema.get(keyword, []):
            if _fits(validator, instance, part):
                found |= evaluated(validator, instance, part)
    if "if" in schema:
        fits = _fits(validator, instance, schema["if"])
        if fits:
            found |= evaluated(validator, instance, schema["if"])
        found |= evaluated(validator, instance, schema.get("then" if fits else "else"))
    return found


def _named(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> set[str]:
    """Those that the schema's own keywords are about."""
    found = set(schema.get("properties", {})) & set(instance)
    for pattern in schema.get("patternProperties", {}):
        found |= {name for name in instance if regex(pattern).search(name)}
    for keyword in _REST:
        if keyword in schema:
            found |= {name for name, value in instance.items() if _fits(validator, value, schema[keyword])}
    return found


def _referred(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> set[str]:
    """Those that the schemas it refers to are about."""
    found: set[str] = set()
    for keyword in _REFERENCES:
        if keyword in schema:
            resolved = validator._resolver.lookup(schema[keyword])  # noqa: SLF001 - jsonschema's keywords have no other way
            inside = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
            found |= evaluated(inside, instance, resolved.contents)
    return found


def _fits(validator: Any, instance: Any, schema: Any) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None
