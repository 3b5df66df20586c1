"""JavaScript of a code node that only names values and returns: as an expression of ours.

The rule: constants, then one `return` of an item, of a list of items, or of `items.map(x => item)`; everything in them an
expression that can be translated. Any other program is a placeholder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from interlace.importers.expressions import is_valid
from interlace.importers.javascript import NotJavaScript, parse_program
from interlace.importers.javascript.syntax import Array, Arrow, Call, Const, Js, Member, Name, Record
from interlace.importers.n8n.scope import Scope
from interlace.importers.n8n.translate import Translator
from interlace.importers.n8n.values import NotTranslated, Value
from interlace.importers.neat import neat


@dataclass(frozen=True, slots=True)
class Program:
    """What a program gives: `items` one after the other, or `each`, a new item for every one that comes in."""

    items: tuple[Value, ...] = ()
    each: Value | None = None


def read_program(source: str, scope: Scope) -> Program:
    """The program as expressions.

    Raises:
        NotTranslated: it does more than name values and return.
    """
    try:
        constants, returned = parse_program(source)
        return _program(constants, returned, scope)
    except NotJavaScript as error:
        raise NotTranslated(str(error)) from None
    except RecursionError:
        raise NotTranslated("it is nested too deep") from None


def _program(constants: list[tuple[str, Js]], returned: Js, scope: Scope) -> Program:
    translator = Translator(scope)
    for name, js in constants:
        translator.names[name] = translator.value(js)
    arrow = _mapped(returned, translator)
    if arrow is not None:
        inner = Translator(replace(scope, item=Value("item"), index="index"), translator.names)
        inner.names[arrow.parameters[0]] = Value("", "item", {"json": Value("item")})
        if len(arrow.parameters) > 1:
            inner.names[arrow.parameters[1]] = Value("index", "number")
        return Program(each=_item(arrow.body, inner))
    entries = returned.items if isinstance(returned, Array) else (returned,)
    return Program(items=tuple(_item(entry, translator) for entry in entries))


def _mapped(js: Js, translator: Translator) -> Arrow | None:
    """The function of `items.map(…)`."""
    if (
        not isinstance(js, Call)
        or not isinstance(js.callee, Member)
        or js.callee.key != Const("map")
        or len(js.arguments) != 1
    ):
        return None
    arrow = js.arguments[0]
    if (
        not isinstance(arrow, Arrow)
        or not arrow.parameters
        or translator.value(js.callee.base).kind != "items"
    ):
        return None
    return arrow


def _item(js: Js, translator: Translator) -> Value:
    """One item: the data under `json`, or the data itself."""
    if isinstance(js, Record):
        keys = [key.value for key, _ in js.pairs if isinstance(key, Const)]
        if "json" in keys:
            if len(js.pairs) > 1 and set(keys) != {"json", "pairedItem"}:
                raise NotTranslated("an item with more than data")
            js = next(value for key, value in js.pairs if isinstance(key, Const) and key.value == "json")
    elif isinstance(js, Name):
        raise NotTranslated("items that are returned under a name")
    made = translator.value(js)
    if made.kind not in ("object", "any") or not is_valid(made.code):
        raise NotTranslated("an item that is no object")
    return Value(neat(made.code), made.kind, made.fields, made.base)
