"""Text to plain data, within bounds: JSON, or YAML by the rules of YAML 1.2's core schema, with merge keys."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from typing import Any

import yaml

from interlace.resources.connectors.report import NotImported, Report

MAX_CHARACTERS = 20_000_000
MAX_VALUES = 3_000_000
MAX_DEPTH = 200

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TOO_DEEP = f"the description is nested more than {MAX_DEPTH} levels deep."


def read(text: str, report: Report) -> dict[str, Any]:
    """The mapping that a JSON or YAML text holds.

    Raises:
        NotImported: it cannot be read, with the line; or it is too large, too deep, or grows when its aliases are
            written out.
    """
    if len(text) > MAX_CHARACTERS:
        raise NotImported(f"the text has {len(text):,} characters, the limit is {MAX_CHARACTERS:,}.")
    data = _json(text, report) if text.lstrip("\ufeff \t\r\n")[:1] == "{" else _yaml(text, report)
    if not isinstance(data, dict):
        raise NotImported(
            "the text holds no mapping; an OpenAPI description begins with `openapi: 3.1.0`.", line=1
        )
    _check_size(data)
    return data


def _json(text: str, report: Report) -> Any:
    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            for name in {name for name in names if names.count(name) > 1}:
                report.add(
                    "error",
                    "repeated_key",
                    "",
                    f"the key {name!r} stands twice in one object; the last one counts.",
                )
        return made

    try:
        return json.loads(text.lstrip("\ufeff"), object_pairs_hook=mapping)
    except json.JSONDecodeError as error:
        if re.match(r'\s*\{\s*"', text) is None:
            return _yaml(text, report)  # a flow mapping
        raise NotImported(
            f"the JSON cannot be read: {error.msg} (column {error.colno}).", line=error.lineno
        ) from None
    except RecursionError:
        raise NotImported(_TOO_DEEP) from None
    except ValueError as error:
        raise NotImported(f"a number cannot be read: {error}.") from None


class _Loader(_BASE):  # type: ignore[misc]
    """Plain data only; dates, `yes` and `12:30` stay texts, keys become texts."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the library's own form
    repeated: list[tuple[str, int]]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys are texts; repeated ones are noted."""
        own = {id(key) for key, _ in node.value}
        self.flatten_mapping(node)
        made: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is no text", key_node.start_mark)
            key = key_node.value
            if key in made and id(key_node) in own:
                self.repeated.append((key, key_node.start_mark.line + 1))
            made[key] = self.construct_object(value_node, deep=deep)
        return made

    def construct_yaml_map(self, node: yaml.MappingNode) -> Any:
        """A mapping, known before it is filled, so that an alias to itself is found and not followed."""
        data: dict[Hashable, Any] = {}
        yield data
        data.update(self.construct_mapping(node))

    def construct_plain_integer(self, node: yaml.ScalarNode) -> int:
        """A whole number."""
        text = self.construct_scalar(node)
        if len(text) > 4000:  # noqa: PLR2004 - Python's own limit for reading one
            raise yaml.constructor.ConstructorError(None, None, "a number is too long", node.start_mark)
        return int(text, 0) if text[:2] in {"0x", "0o"} else int(text)


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_yaml_map)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_plain_integer)
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+0123456789."),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def _yaml(text: str, report: Report) -> Any:
    try:
        loader = _Loader(text)
        loader.repeated = []
        try:
            data = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        raise NotImported(
            f"the YAML cannot be read: {', '.join(parts)}.", line=mark.line + 1 if mark else None
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotImported("the text holds a character that YAML does not allow.", line=line) from None
    except RecursionError:
        raise NotImported(_TOO_DEEP) from None
    except (yaml.YAMLError, ValueError) as error:
        raise NotImported(f"the YAML cannot be read: {error}.") from None
    for name, line in loader.repeated:
        report.add(
            "error",
            "repeated_key",
            f"line {line}",
            f"the key {name!r} stands twice in one mapping; the last one counts.",
        )
    return data


def _check_size(data: Any) -> None:
    """Count the values with aliases written out: a few lines of aliases can stand for millions.

    Raises:
        NotImported: there are too many, they are nested too deep, or one holds itself.
    """
    sizes: dict[int, int] = {}
    open_: set[int] = set()

    def size(value: Any, depth: int) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        if depth > MAX_DEPTH:
            raise NotImported(_TOO_DEEP)
        known = sizes.get(id(value))
        if known is not None:
            return known
        if id(value) in open_:
            raise NotImported("an alias stands inside the value that it names.")
        open_.add(id(value))
        inner = value.values() if isinstance(value, dict) else value
        total = 1 + sum(size(entry, depth + 1) for entry in inner)
        open_.discard(id(value))
        if total > MAX_VALUES:
            raise NotImported(f"the description holds more than {MAX_VALUES:,} values.")
        sizes[id(value)] = total
        return total

    size(data, 0)
