"""Names and functions of n8n's expressions: `$json`, `$input`, `$now`, `JSON.stringify`, `Math.round` and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from interlace.importers.expressions import constant, grouped
from interlace.importers.javascript.syntax import Const, Js
from interlace.importers.n8n import nodes_read
from interlace.importers.n8n.dates import layout
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.values import Kind, NotTranslated, Value

if TYPE_CHECKING:
    from interlace.importers.n8n.translate import Translator

Function = Callable[["Translator", tuple[Js, ...]], Value]


def _all_nodes(scope: Scope) -> Value:
    """`$node`: each node by its name, the item that belongs to the current one."""
    del scope
    return Value("$node", "global")


def _run(scope: Scope) -> Value:
    del scope
    return Value("run", "object", {"id": Value("run.id", "text"), "mode": Value("run.trigger", "text")})


def _asked(what: str) -> Value:
    raise NotTranslated(what)


def _workflow(scope: Scope) -> Value:
    name = constant(scope.workflow)
    return Value(
        name,
        "object",
        {"name": Value(name, "text"), "id": Value(name, "text"), "active": Value("true", "bool")},
    )


NAMES: Final[dict[str, Callable[[Scope], Value]]] = {
    "$json": lambda scope: scope.current(),
    "$input": lambda _: nodes_read.node(nodes_read.INPUT),
    "$node": _all_nodes,
    "$itemIndex": lambda scope: Value(scope.index, "number"),
    "$position": lambda scope: Value(scope.index, "number"),
    "$runIndex": lambda scope: Value(scope.rounds, "number"),
    "$now": lambda _: Value("now()", "date"),
    "$today": lambda _: Value("(now() | date)", "date"),
    "$execution": _run,
    "$workflow": _workflow,
    "$env": lambda _: Value("env", "any"),
    "$vars": lambda _: Value("env", "any"),
    "$prevNode": lambda scope: Value(
        constant(scope.previous), "object", {"name": Value(constant(scope.previous), "text")}
    ),
    "items": lambda scope: scope.items,
    "Infinity": lambda _: _asked("Infinity"),
    "NaN": lambda _: _asked("NaN"),
}


def _node(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    """`$('Name')`."""
    del translator
    if len(arguments) == 1 and isinstance(arguments[0], Const) and isinstance(arguments[0].value, str):
        return nodes_read.node(arguments[0].value)
    raise NotTranslated("a node whose name is computed")


def _items(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    """`$items()` and `$items('Name')`."""
    if not arguments:
        return translator.scope.items
    return (
        nodes_read.all_items(_node(translator, arguments[:1]), translator.scope)
        if len(arguments) == 1
        else _asked("$items of a run")
    )


def _filtered(name: str, kind: Kind, most: int = 1) -> Function:
    def write(translator: Translator, arguments: tuple[Js, ...]) -> Value:
        if not 1 <= len(arguments) <= most:
            raise NotTranslated(f"{name} of {len(arguments)} values")
        first, *rest = (translator.value(one) for one in arguments)
        inside = ", ".join(one.code for one in rest)
        return Value(f"({grouped(first.code)} | {name}{f'({inside})' if inside else ''})", kind)

    return write


def _listed(name: str) -> Function:
    """`Math.max(a, b)`, `$max(a, b)`."""

    def write(translator: Translator, arguments: tuple[Js, ...]) -> Value:
        code = ", ".join(translator.value(one).code for one in arguments)
        return Value(f"([{code}] | {name})", "number")

    return write


def _stringify(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    if not arguments:
        raise NotTranslated("JSON.stringify of nothing")
    first = translator.value(arguments[0])
    if first.kind == "items":
        raise NotTranslated("JSON.stringify of n8n's items")
    spaces = arguments[2].value if len(arguments) > 2 and isinstance(arguments[2], Const) else None  # noqa: PLR2004 - the third is the indent
    indent = f"(indent={spaces})" if isinstance(spaces, int) and spaces else ""
    return Value(f"({grouped(first.code)} | tojson{indent})", "text")


def _if(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    if len(arguments) != 3:  # noqa: PLR2004 - test, then, else
        raise NotTranslated("$if of fewer than three values")
    test, then, otherwise = (translator.value(one) for one in arguments)
    return Value(
        f"({grouped(then.code)} if {test.code} else {grouped(otherwise.code)})",
        then.kind if then.kind == otherwise.kind else "any",
    )


def _if_empty(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    if len(arguments) != 2:  # noqa: PLR2004 - value and default
        raise NotTranslated("$ifEmpty of other than two values")
    value, other = (translator.value(one) for one in arguments)
    return Value(f"({grouped(value.code)} if {value.code} is not empty else {grouped(other.code)})")


def _is_list(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    return (
        Value(f"({grouped(translator.value(arguments[0]).code)} is sequence)", "bool")
        if arguments
        else _asked("Array.isArray")
    )


def _now(kind: Kind) -> Function:
    def write(translator: Translator, arguments: tuple[Js, ...]) -> Value:
        del translator, arguments
        return (
            Value("now()", "date")
            if kind == "date"
            else Value("((now() | timestamp * 1000) | int)", "number")
        )

    return write


def _from_format(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    if len(arguments) < 2 or not isinstance(arguments[1], Const) or not isinstance(arguments[1].value, str):  # noqa: PLR2004 - text and format
        raise NotTranslated("DateTime.fromFormat")
    return Value(
        f"({grouped(translator.value(arguments[0]).code)} | to_datetime({constant(layout(arguments[1].value))}))",
        "date",
    )


def _from_millis(translator: Translator, arguments: tuple[Js, ...]) -> Value:
    if len(arguments) != 1:
        raise NotTranslated("DateTime.fromMillis")
    return Value(f"(({grouped(translator.value(arguments[0]).code)} / 1000) | to_datetime)", "date")


FUNCTIONS: Final[dict[str | tuple[str, object], Function]] = {
    "$": _node, "$items": _items, "$if": _if, "$ifEmpty": _if_empty, "$max": _listed("max"), "$min": _listed("min"),
    "$average": _listed("avg"), "$not": lambda t, a: Value(f"(not {grouped(t.value(a[0]).code)})", "bool") if a else _asked("$not"),
    "$jmespath": _filtered("jmespath", "any", 2), "$jmesPath": _filtered("jmespath", "any", 2),
    "encodeURIComponent": _filtered("urlencode", "text"), "encodeURI": _filtered("urlencode", "text"),
    "parseInt": _filtered("int", "number"), "parseFloat": _filtered("float", "number"), "Number": _filtered("number", "number"),
    "String": _filtered("string", "text"), "Boolean": _filtered("bool", "bool"), "Date": _now("date"),
    ("JSON", "stringify"): _stringify, ("JSON", "parse"): _filtered("fromjson", "any"),
    ("Math", "round"): _filtered("round", "number"), ("Math", "floor"): _filtered("floor", "number"),
    ("Math", "ceil"): _filtered("ceil", "number"), ("Math", "abs"): _filtered("abs", "number"), ("Math", "max"): _listed("max"),
    ("Math", "min"): _listed("min"), ("Math", "PI"): lambda _t, _a: Value("3.141592653589793", "number"),
    ("Object", "keys"): _filtered("keys", "list"), ("Object", "values"): _filtered("values", "list"),
    ("Object", "entries"): _filtered("items", "list"), ("Array", "isArray"): _is_list, ("Number", "parseFloat"): _filtered("float", "number"),
    ("Number", "parseInt"): _filtered("int", "number"), ("Array", "from"): _filtered("list", "list"),
    ("Date", "now"): _now("number"), ("DateTime", "now"): _now("date"), ("DateTime", "utc"): _now("date"), ("DateTime", "local"): _now("date"),
    ("DateTime", "fromISO"): _filtered("to_datetime", "date"), ("DateTime", "fromFormat"): _from_format,
    ("DateTime", "fromMillis"): _from_millis, ("DateTime", "fromSeconds"): _filtered("to_datetime", "date"),
}  # fmt: skip
