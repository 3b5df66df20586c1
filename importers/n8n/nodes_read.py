"""Reading other nodes: `$('Name')`, `$node["Name"]`, `$items("Name")`, `$input`."""

from __future__ import annotations

from interlace.importers.expressions import grouped
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.values import NotTranslated, Value, shaped

INPUT = "$input"


def node(name: str) -> Value:
    """A node that is read; `$input` stands for what comes in."""
    return Value(name, "node")


def _item(value: Value) -> Value:
    return Value("", "item", {"json": value})


def all_items(base: Value, scope: Scope) -> Value:
    """All items of a node."""
    return scope.items if base.code == INPUT else scope.flow(base.code).many


def _end(base: Value, which: str, scope: Scope) -> Value:
    if base.code == INPUT:
        alone = scope.item is not None and scope.items.code == f"[{scope.item.code}]"
        return _item(
            scope.item
            if alone and scope.item is not None
            else shaped(_taken(scope.items, which).code, scope.shape)
        )
    found = scope.flow(base.code)
    only = found.one if found.one is not None and found.many.code == f"[{found.one.code}]" else None
    return _item(only if only is not None else found.item(_taken(found.many, which).code))


def _taken(many: Value, which: str) -> Value:
    code = many.code
    if code.startswith("[") and code.endswith("]") and code.count("[") == 1:
        return Value(code[1:-1])
    return Value(f"({grouped(code)} | {which})")


def numbered(many: Value, number: int) -> Value:
    """One of the items, by its number."""
    code = many.code
    if number == 0 and code.startswith("[") and code.endswith("]") and code.count("[") == 1:
        return Value(code[1:-1])
    return Value(f"{grouped(code)}[{number}]")


def member(base: Value, key: object, scope: Scope) -> Value:
    """`.item`, `.json`, `.first`, … of a node.

    Raises:
        NotTranslated: there is no such thing here.
    """
    if key == "item":
        return _item(scope.current() if base.code == INPUT else scope.paired(base.code))
    if key in ("json", "data"):
        return scope.current() if base.code == INPUT else scope.paired(base.code)
    if key == "isExecuted":
        return Value(f"{scope.flow(base.code).many.code} is defined", "bool")
    if key == "name":
        return Value(repr(base.code), "text")
    raise NotTranslated(f"{key} of a node")


def method(base: Value, name: str, arguments: list[Value], scope: Scope) -> Value:
    """`.first()`, `.last()`, `.all()`, `.itemMatching(0)`.

    Raises:
        NotTranslated: there is no such method, or it asks for another output or run.
    """
    if name == "all" and not arguments:
        return all_items(base, scope)
    if name in ("first", "last") and not arguments:
        return _end(base, name, scope)
    if name == "itemMatching" and len(arguments) == 1:
        found = all_items(base, scope)
        return _item(Value(f"{grouped(found.code)}[{arguments[0].code}]"))
    raise NotTranslated(f"{name}() of a node" + (" with a run or output" if arguments else ""))
