"""Resources that a document names and that whoever saves it does not see: a warning, as a run may be another's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pydantic.fields import FieldInfo

from interlace.engine.document import Document, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.engine.problems import Problem
from interlace.engine.registry import Registry
from interlace.engine.source import Source
from interlace.resources.lookup import usable
from interlace.store import Store
from interlace.store.visibility import Asker

Models = Callable[[str, Principal], Awaitable[object]]
"""Finds the models of a reference; raises `resource_not_found` where there is none."""

_TOOLS: Final = "tools"
"""A field with names of tools, or of resources that have some."""
_WITH_TOOLS: Final = ("connector", "database", "knowledge_base")
_WHOLE: Final = frozenset({"mcp", "skills"})
"""All resources of a kind."""
_FREE: Final = frozenset({"auto"})
"""Names that stand for whatever there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    node: str
    field: str
    kind: str
    name: str


async def unbound(
    source: Source, registry: Registry, *, store: Store, owner: Asker, models: Models | None = None
) -> list[Problem]:
    """A warning for each name that `owner` does not see. This reads the store and connects nothing."""
    document = source.document or source.salvaged
    named = [] if document is None else list(_named(document, registry))
    if not named:
        return []
    by = owner if isinstance(owner, Principal) else await store.users.principal(owner)
    known: dict[tuple[str, str], str] = {}
    for entry in named:
        key = (entry.kind, entry.name)
        if key not in known:
            known[key] = await _missing(entry, store, by, models)
    return [
        Problem(
            code="unbound_resource", message=f"{known[entry.kind, entry.name]}.", severity="warning", node=entry.node,
            field=entry.field, line=source.line(entry.node, entry.field),
            fix="Name one that you may use, or see to it that whoever starts the run may use this one.",
        )
        for entry in named
        if known[entry.kind, entry.name]
    ]  # fmt: skip


async def _missing(entry: _Named, store: Store, by: Principal, models: Models | None) -> str:
    """What is said of a name that is not there; empty where it is, or where that cannot be known."""
    try:
        if entry.kind == _TOOLS:
            return await _missing_tool(entry.name, store, by)
        if entry.kind != "model":
            await usable(store.resources, entry.kind, entry.name, by=by)
        elif models is not None:
            await models(entry.name, by)
    except NodeError as error:
        return error.message if error.kind == "resource_not_found" else ""
    return ""


async def _missing_tool(name: str, store: Store, by: Principal) -> str:
    from interlace.resources.tools import builtin_tools  # noqa: PLC0415 - only where agents name tools

    if name in _WHOLE or builtin_tools().get(name) is not None:
        return ""
    for kind in _WITH_TOOLS:
        with suppress(NodeError):
            await usable(store.resources, kind, name, by=by)
            return ""
    return f"there is no tool, connector, database or knowledge base {name!r} that you may use"


def _named(document: Document, registry: Registry) -> Iterator[_Named]:
    for spec, _ in document.walk():
        node_type = registry.get(spec.type)
        if node_type is None:
            continue
        for name, info in node_type.config_type.model_fields.items():
            kind = _kind(info)
            if kind is not None:
                yield from _of_field(spec, info.alias or name, kind)


def _kind(info: FieldInfo) -> str | None:
    """The kind of resource that a field names, by what its editor offers."""
    extra: Any = info.json_schema_extra
    if not isinstance(extra, dict):
        return None
    if extra.get("widget") == "resource":
        return str(extra["resource"])
    return str(extra["widget"]) if extra.get("widget") in ("model", _TOOLS) else None


def _of_field(spec: NodeSpec, field: str, kind: str) -> Iterator[_Named]:
    value = spec.config.get(field)
    several = isinstance(value, list | tuple)
    for index, name in enumerate(value if isinstance(value, list | tuple) else [value]):
        if isinstance(name, str) and name and "{{" not in name and name not in _FREE:
            where = f"config.{field}[{index}]" if several else f"config.{field}"
            yield _Named(node=spec.id, field=where, kind=kind, name=name)
