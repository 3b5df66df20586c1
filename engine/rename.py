"""Renaming a node: every reference is rewritten through the parsed expressions, never by replacing text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from interlace.engine.document import RESERVED, Body, Document, Edge, NodeSpec, Ui, Wait
from interlace.engine.errors import InterlaceError
from interlace.engine.expressions import ExpressionError, rename_root
from interlace.engine.fields import Syntax, markers
from interlace.engine.registry import Registry
from interlace.engine.validate import validate

_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_KINDS: dict[Syntax, Literal["text", "expression", "template"]] = {
    "value": "text",
    "expression": "expression",
    "template": "template",
}


class RenameRefused(InterlaceError):  # noqa: N818 - the name users see
    """The node cannot be renamed."""


def rename_node(document: Document, old: str, new: str, *, registry: Registry) -> Document:
    """The document with a node called `new` instead of `old`, all references, edges and positions included.

    Args:
        document: a document whose configs are valid; labels and other texts are not touched.
        old: id of a node, inside a body or not.
        new: an id that is free.
        registry: the node types, which say what of a config is an expression.

    Raises:
        RenameRefused: there is no such node, the new id is invalid, reserved or taken, a config or expression cannot be
            read, so that a reference might be missed, or the document would have an error that it did not have.
    """
    _check(document, old, new)
    if old == new:
        return document
    rename = _Rename(old, new, registry)
    positions = {rename.id(name): place for name, place in document.ui.positions.items()}
    ui = Ui(**{**(document.ui.model_extra or {}), "positions": positions})
    nodes, edges = rename.inside(document)
    renamed = document.model_copy(update={"nodes": nodes, "edges": edges, "ui": ui})
    _compare(document, renamed, rename, registry)
    return renamed


def _compare(before: Document, after: Document, rename: _Rename, registry: Registry) -> None:
    """Refuse where the id is also part of a value, such as the name of a branch in an output."""
    known = {(p.code, rename.id(p.node or ""), p.field) for p in validate(before, registry).errors}
    for problem in validate(after, registry).errors:
        if (problem.code, problem.node or "", problem.field) not in known:
            raise RenameRefused(f"renaming would break the workflow: {problem}")


def _check(document: Document, old: str, new: str) -> None:
    ids = {spec.id for spec, _ in document.walk()}
    if old not in ids:
        raise RenameRefused(f"there is no node {old!r}")
    if _ID.fullmatch(new) is None:
        raise RenameRefused(
            f"{new!r} is no valid id: use letters, digits and underscores, not beginning with a digit, at most 64"
        )
    if new in RESERVED:
        raise RenameRefused(f"{new!r} is a name of the expression language; choose another id")
    if new != old and (new in ids or new in set(_loop_variables(document))):
        raise RenameRefused(f"{new!r} is taken; choose another id")


def _loop_variables(document: Document) -> Iterable[str]:
    for spec, _ in document.walk():
        variables = spec.config.get("variables") if spec.type == "LOOP" else None
        if isinstance(variables, dict):
            yield from variables


class _Rename:
    """One renaming."""

    def __init__(self, old: str, new: str, registry: Registry) -> None:
        self._old, self._new = old, new
        self._registry = registry
        self._where = ""

    def id(self, name: str) -> str:
        return self._new if name == self._old else name

    def inside(self, container: Document | Body) -> tuple[list[NodeSpec], list[Edge]]:
        edges = [
            edge.model_copy(update={"from_": self.id(edge.from_), "to": self.id(edge.to)})
            for edge in container.edges
        ]
        return [self._node(node) for node in container.nodes], edges

    def _node(self, node: NodeSpec) -> NodeSpec:
        self._where = node.id
        changes: dict[str, Any] = {"id": self.id(node.id), "config": self._config(node)}
        if node.wait is not None and node.wait.until is not None:
            changes["wait"] = Wait(until=self._text(node.wait.until, "value"))
        if node.body is not None:
            nodes, edges = self.inside(node.body)
            changes["body"] = node.body.model_copy(update={"nodes": nodes, "edges": edges})
        return node.model_copy(update=changes)

    def _config(self, node: NodeSpec) -> dict[str, Any]:
        node_type = self._registry.get(node.type)
        if node_type is None:
            raise RenameRefused(
                f"{node.id!r} has the unknown type {node.type!r}, so its references cannot be found"
            )
        try:
            config = node_type.config_type.model_validate(node.config)
        except ValidationError:
            raise RenameRefused(
                f"the config of {node.id!r} is not valid, so its references cannot be found; correct it first"
            ) from None
        renamed: dict[str, Any] = self._model(config, node.config)
        return renamed

    def _model(self, model: BaseModel, raw: Any) -> Any:
        """The raw data of a model with the references in its expression fields renamed."""
        marked = markers(type(model))
        fields = {key for name, info in type(model).model_fields.items() for key in (name, info.alias)}
        if not isinstance(raw, dict) or not raw.keys() <= fields:
            # Written in a short form: its long form says where the expressions are.
            raw = model.model_dump(by_alias=True, exclude_unset=True)
        made = dict(raw)
        for name, info in type(model).model_fields.items():
            key = info.alias if info.alias in raw else name
            if key not in raw:
                continue
            if name in marked:
                made[key] = self._value(raw[key], marked[name][0].syntax)
            else:
                made[key] = self._nested(getattr(model, name), raw[key])
        return made

    def _nested(self, value: Any, raw: Any) -> Any:
        if isinstance(value, BaseModel):
            return self._model(value, raw)
        if isinstance(value, list):
            parts = raw if isinstance(raw, list) and len(raw) == len(value) else [None] * len(value)
            return [self._nested(inner, part) for inner, part in zip(value, parts, strict=True)]
        if isinstance(value, dict) and isinstance(raw, dict):
            return {key: self._nested(value.get(key), part) for key, part in raw.items()}
        return raw

    def _value(self, raw: Any, syntax: Syntax) -> Any:
        if isinstance(raw, str):
            return self._text(raw, syntax)
        if isinstance(raw, dict):
            return {key: self._value(inner, syntax) for key, inner in raw.items()}
        if isinstance(raw, list):
            return [self._value(inner, syntax) for inner in raw]
        return raw

    def _text(self, source: str, syntax: Syntax) -> str:
        if self._old not in source:
            return source
        try:
            return rename_root(source, self._old, self._new, kind=_KINDS[syntax])
        except ExpressionError as error:
            raise RenameRefused(
                f"an expression of {self._where!r} cannot be read: {error}; correct it first"
            ) from None
