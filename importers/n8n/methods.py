"""Methods of JavaScript's and n8n's texts, lists, objects and numbers as our filters, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from interlace.importers.expressions import constant, grouped
from interlace.importers.n8n.values import Kind, Value

Method = Callable[[Value, list[Value]], Value | None]


def _filter(name: str, kind: Kind, least: int = 0, most: int = 0, *, fixed: str = "") -> Method:
    def write(base: Value, arguments: list[Value]) -> Value | None:
        if not least <= len(arguments) <= most:
            return None
        inside = ", ".join([one.code for one in arguments] + ([fixed] if fixed else []))
        return Value(f"{grouped(base.code)} | {name}" + (f"({inside})" if inside else ""), kind)

    return write


def _test(name: str) -> Method:
    def write(base: Value, arguments: list[Value]) -> Value | None:
        if len(arguments) != 1:
            return None
        return Value(f"({grouped(base.code)} is {name}({arguments[0].code}))", "bool")

    return write


def _includes(base: Value, arguments: list[Value]) -> Value | None:
    return (
        Value(f"({grouped(arguments[0].code)} in {grouped(base.code)})", "bool")
        if len(arguments) == 1
        else None
    )


def _replace(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) != 2:  # noqa: PLR2004 - what and by what
        return None
    what, by = arguments
    operand = grouped(base.code)
    if what.kind != "pattern":
        return Value(f"{operand} | replace({what.code}, {by.code}, 1)", "text")
    everywhere = what.fields is not None and what.fields["g"].code == "True"
    source = what.code[1:-1]
    anchored = source.startswith("^") or source.endswith("$")
    if not everywhere and not anchored:
        return None
    if "$" in by.code:
        by = Value(by.code.replace("$1", "\\\\1").replace("$2", "\\\\2"), "text")
    return Value(f"{operand} | regex_replace({what.code}, {by.code})", "text")


def _replace_all(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) != 2:  # noqa: PLR2004 - what and by what
        return None
    name = "regex_replace" if arguments[0].kind == "pattern" else "replace"
    return Value(f"{grouped(base.code)} | {name}({arguments[0].code}, {arguments[1].code})", "text")


def _match(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) != 1 or arguments[0].kind not in ("pattern", "text"):
        return None
    what = arguments[0]
    if what.fields is not None and what.fields["g"].code == "True":
        return Value(f"({grouped(base.code)} | regex_findall({what.code}))", "list")
    found = f"{grouped(base.code)} | regex_search({what.code}"
    return Value(f"({found}, 0))", "any", {"0": Value(f"({found}, 0))", "text"), "1": Value(f"({found}, 1))", "text"),
                                           "2": Value(f"({found}, 2))", "text")})  # fmt: skip


def _tests(base: Value, arguments: list[Value]) -> Value | None:
    if base.kind != "pattern" or len(arguments) != 1:
        return None
    return Value(f"({grouped(arguments[0].code)} is matching({base.code}))", "bool")


def _slice(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) > 2:  # noqa: PLR2004 - from and to
        return None
    start = arguments[0].code if arguments else ""
    end = arguments[1].code if len(arguments) > 1 else ""
    kind: Kind = base.kind if base.kind in ("text", "list", "items") else "any"
    return Value(f"{grouped(base.code)}[{'' if start == '0' else start}:{end}]", kind)


def _substr(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) == 2:  # noqa: PLR2004 - from and how many
        start, count = arguments[0].code, arguments[1].code
        end = (
            str(int(start) + int(count))
            if start.isdigit() and count.isdigit()
            else f"{grouped(start)} + {grouped(count)}"
        )
        return Value(f"{grouped(base.code)}[{start}:{end}]", "text")
    return _slice(base, arguments)


def _join(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) > 1 or base.kind == "items":
        return None
    separator = arguments[0].code if arguments else "','"
    return Value(f"{grouped(base.code)} | join({separator})", "text")


def _split(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) != 1 or arguments[0].kind == "pattern":
        return None
    if arguments[0].code == "''":
        return Value(f"{grouped(base.code)} | list", "list")
    return Value(f"{grouped(base.code)} | split({arguments[0].code})", "list")


def _concat(base: Value, arguments: list[Value]) -> Value | None:
    if base.kind == "text":
        return Value(" ~ ".join([base.code, *(grouped(one.code) for one in arguments)]), "text")
    return Value(" + ".join([grouped(base.code), *(grouped(one.code) for one in arguments)]), "list")


def _at(base: Value, arguments: list[Value]) -> Value | None:
    return Value(f"{grouped(base.code)}[{arguments[0].code}]") if len(arguments) == 1 else None


def _empty(word: str) -> Method:
    def write(base: Value, arguments: list[Value]) -> Value | None:
        return None if arguments else Value(f"({grouped(base.code)} {word} empty)", "bool")

    return write


def _to_string(base: Value, arguments: list[Value]) -> Value | None:
    return None if arguments else Value(f"{grouped(base.code)} | string", "text")


def _fixed(base: Value, arguments: list[Value]) -> Value | None:
    places = arguments[0].code if arguments else "0"
    return (
        Value(f"{grouped(base.code)} | number_format({places}, '')", "text") if len(arguments) < 2 else None  # noqa: PLR2004 - versions and limits of the format
    )


def _pad(base: Value, arguments: list[Value]) -> Value | None:
    """`padStart(2, '0')`, written out where the width is known."""
    if len(arguments) != 2 or not arguments[0].code.isdigit() or int(arguments[0].code) > 30:  # noqa: PLR2004 - width and filling
        return None
    width = int(arguments[0].code)
    text = f"({grouped(base.code)} | string)"
    return Value(
        f"({arguments[1].code} * {width} ~ {text})[-{width}:] if {text} | length < {width} else {text}",
        "text",
    )


def _has(base: Value, arguments: list[Value]) -> Value | None:
    return Value(f"({arguments[0].code} in {grouped(base.code)})", "bool") if len(arguments) == 1 else None


def _pluck(base: Value, arguments: list[Value]) -> Value | None:
    return (
        Value(f"{grouped(base.code)} | map(attribute={arguments[0].code})", "list")
        if len(arguments) == 1
        else None
    )


def _index_of(base: Value, arguments: list[Value]) -> Value | None:
    if len(arguments) != 1 or base.kind == "text":
        return None
    return Value(f"({grouped(base.code)} | index_of({arguments[0].code}) | default(-1))", "number")


METHODS: Final[dict[str, Method]] = {
    # texts
    "toLowerCase": _filter("lower", "text"), "toUpperCase": _filter("upper", "text"), "trim": _filter("trim", "text"),
    "toLocaleLowerCase": _filter("lower", "text"), "toLocaleUpperCase": _filter("upper", "text"),
    "split": _split, "replace": _replace, "replaceAll": _replace_all, "includes": _includes, "match": _match, "test": _tests,
    "startsWith": _test("startingwith"), "endsWith": _test("endingwith"), "substring": _slice, "slice": _slice, "substr": _substr,
    "concat": _concat, "charAt": _at, "padStart": _pad, "toString": _to_string, "String": _to_string, "repeat": lambda base, given:
    Value(f"{grouped(base.code)} * {grouped(given[0].code)}", "text") if len(given) == 1 else None,
    "toTitleCase": _filter("title", "text"), "toSentenceCase": _filter("capitalize", "text"), "hash": _filter("hash", "text", 0, 1),
    "base64Encode": _filter("b64encode", "text"), "base64Decode": _filter("b64decode", "text"), "removeTags": _filter("striptags", "text"),
    "urlEncode": _filter("urlencode", "text"), "toSnakeCase": _filter("slugify", "text", fixed="'_'"),
    "toInt": _filter("int", "number"), "toInteger": _filter("int", "number"), "toFloat": _filter("float", "number"),
    "toNumber": _filter("number", "number"), "toBoolean": _filter("bool", "bool"), "toBool": _filter("bool", "bool"),
    "parseJson": _filter("fromjson", "any"), "toJsonString": _filter("tojson", "text"), "toJSON": _filter("tojson", "text"),
    "isNumeric": lambda base, given: None if given else Value(f"({grouped(base.code)} is numeric)", "bool"),
    "extractEmail": lambda base, given: None if given else Value(
        f"({grouped(base.code)} | regex_search({constant('[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+')}))", "text"),
    # lists
    "join": _join, "reverse": _filter("reverse", "list"), "indexOf": _index_of, "at": _at, "first": _filter("first", "any"),
    "last": _filter("last", "any"), "sum": _filter("sum", "number"), "max": _filter("max", "number"), "min": _filter("min", "number"),
    "average": _filter("avg", "number"), "unique": _filter("unique", "list"), "removeDuplicates": _filter("unique", "list"),
    "compact": _filter("compact", "list"), "chunk": _filter("batch", "list", 1, 1), "pluck": _pluck, "flat": _filter("flatten", "list", 0, 1),
    "sort": _filter("sort", "list"), "append": _concat, "union": lambda base, given: None if len(given) != 1 else Value(
        f"({grouped(base.code)} + {grouped(given[0].code)}) | unique", "list"),
    # numbers
    "toFixed": _fixed, "round": _filter("round", "number", 0, 1), "floor": _filter("floor", "number"), "ceil": _filter("ceil", "number"),
    "abs": _filter("abs", "number"), "isEven": lambda base, given: None if given else Value(f"({grouped(base.code)} is even)", "bool"),
    "isOdd": lambda base, given: None if given else Value(f"({grouped(base.code)} is odd)", "bool"),
    # objects
    "isEmpty": _empty("is"), "isNotEmpty": _empty("is not"), "keys": _filter("keys", "list"), "values": _filter("values", "list"),
    "hasField": _has, "hasOwnProperty": _has, "merge": _filter("combine", "object", 1, 1), "urlEncodeObject": _filter("urlencode", "text"),
}  # fmt: skip

PROPERTIES: Final[dict[str, Callable[[Value], Value]]] = {
    "length": lambda base: Value(f"({grouped(base.code)} | length)", "number"),
}
