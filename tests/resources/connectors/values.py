"""Values that fit a JSON Schema, made at random from a seed; checked by jsonschema before they are used."""

from __future__ import annotations

import random
import string
from typing import Any

_FORMATS = {
    "date-time": "2026-11-30T12:00:00Z", "date": "2026-11-30", "time": "12:00:00Z", "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "email": "ada@example.com", "uri": "https://example.com/x", "uri-template": "https://example.com/x", "byte": "aGk=",
    "ipv4": "192.0.2.1", "hostname": "example.com", "iri": "https://example.com/x",
}  # fmt: skip


_IMPLIED = {"properties": "object", "items": "array", "required": "object"}


class Maker:
    """Makes values; `root` is what references point into."""

    def __init__(self, root: dict[str, Any], seed: int = 0, *, optional: float = 0.7) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.optional = optional

    def make(self, schema: Any, depth: int = 0) -> Any:  # noqa: PLR0911
        if not isinstance(schema, dict) or not schema:
            return "text"
        if "$ref" in schema:
            return self.make(self.at(schema["$ref"]), depth + 1)
        for keyword in ("const", "default"):
            if keyword in schema:
                return schema[keyword]
        if schema.get("enum"):
            return self.random.choice([one for one in schema["enum"] if one is not None] or schema["enum"])
        if schema.get("examples"):
            return schema["examples"][0]
        if "example" in schema:
            return schema["example"]
        for keyword in ("oneOf", "anyOf"):
            if schema.get(keyword):
                plain = [
                    one
                    for one in schema[keyword]
                    if one.get("type") != "null" and one.get("format") != "file"
                ]
                return self.make(plain[0] if plain else schema[keyword][0], depth + 1)
        if schema.get("allOf"):
            made: Any = {}
            for one in schema["allOf"]:
                part = self.make(one, depth + 1)
                made = {**made, **part} if isinstance(part, dict) and isinstance(made, dict) else part
            rest = {k: v for k, v in schema.items() if k != "allOf"}
            return (
                {**made, **self._object(rest, depth)}
                if isinstance(made, dict) and "properties" in rest
                else made
            )
        return self._typed(schema, depth)

    def at(self, ref: str) -> Any:
        found: Any = self.root
        for step in ref.removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    def _typed(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type") or next((t for k, t in _IMPLIED.items() if k in schema), "string")
        if isinstance(kind, list):
            kind = next(one for one in kind if one != "null")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            least = max(schema.get("minItems", 1), 0)
            count = min(max(least, 2 if depth < 6 else least), schema.get("maxItems", 2))
            items = [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]
            return items[:1] if schema.get("uniqueItems") else items
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if kind == "boolean":
            return self.random.random() < 0.5
        return None if kind == "null" else self._text(schema)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        known = schema.get("properties", {})
        made = {
            name: self.make(entry, depth + 1)
            for name, entry in known.items()
            if name in required or (depth < 4 and self.random.random() < self.optional)
        }
        return made | dict.fromkeys(required - set(known), "text")

    def _number(self, schema: dict[str, Any], kind: str) -> Any:
        low = schema.get(
            "minimum", schema.get("exclusiveMinimum", 0) + 1 if "exclusiveMinimum" in schema else 1
        )
        high = schema.get("maximum", low + 50)
        value = self.random.randint(int(low), max(int(low), int(high)))
        return value if kind == "integer" else float(value)

    def _text(self, schema: dict[str, Any]) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        letters = string.ascii_letters + string.digits + " &=é日+.;,"
        length = max(schema.get("minLength", 1), min(8, schema.get("maxLength", 8)))
        made = "".join(self.random.choice(letters) for _ in range(length))
        return "x" + made[1:-1] + "y" if len(made) > 1 else "x"
