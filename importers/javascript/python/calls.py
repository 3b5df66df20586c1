"""Calls and fields: JavaScript's own functions, methods, and chains with `?.`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interlace.importers.javascript.python.known import DATE_PARTS, FUNCTIONS, METHODS, NEW, STATIC, Rule
from interlace.importers.javascript.python.scopes import NotPython
from interlace.importers.javascript.syntax import Call, Const, Js, Member, Name, Spread

REQUIRED: Final = Call(Name("require"), (Const("crypto"),))
"""`require('crypto')`, the one module that a program may load."""

if TYPE_CHECKING:
    from interlace.importers.javascript.python.expressions import Code, Writer


def call(js: Call, writer: Writer) -> Code:
    """A call.

    Raises:
        NotPython: of something that is not known.
    """
    if js.new:
        return _new(js, writer)
    if js.optional:
        raise NotPython("a function that may be missing")
    callee = js.callee
    if isinstance(callee, Name):
        return _function(callee.name, js, writer)
    if isinstance(callee, Member) and isinstance(callee.key, Const):
        return _method(callee, str(callee.key.value), js, writer)
    return _code(f"js_apply({', '.join([writer.text(callee), *_arguments(js, writer)])})")


def _code(text: str, kind: str = "any") -> Code:
    from interlace.importers.javascript.python.expressions import Code  # noqa: PLC0415 - it imports this

    return Code(text, kind)


def _arguments(js: Call, writer: Writer) -> list[str]:
    return [writer.entry(one) for one in js.arguments]


def _ruled(rule: Rule, arguments: list[str], first: str | None = None) -> Code:
    kept = arguments[: rule.most]
    return _code(f"{rule.name}({', '.join([first, *kept] if first is not None else kept)})", rule.kind)


def _new(js: Call, writer: Writer) -> Code:
    rule = NEW.get(js.callee.name) if isinstance(js.callee, Name) else None
    if rule is None:
        raise NotPython(f"`new {js.callee.name if isinstance(js.callee, Name) else '…'}`")
    if rule.name == "Error":
        return _code(f"Error({', '.join(f'js_text({one})' for one in _arguments(js, writer)[:1])})")
    return _ruled(rule, _arguments(js, writer))


def _function(name: str, js: Call, writer: Writer) -> Code:
    found = writer.scope.find(name)
    if found is not None:
        return _code(f"js_apply({', '.join([found[0], *_arguments(js, writer)])})")
    rule = FUNCTIONS.get(name)
    if rule is None:
        raise NotPython(f"the function {name!r}")
    if not js.arguments and rule.name != "js_array":
        empty = {"js_number": "0", "js_text": "''", "js_truthy": "False"}.get(rule.name)
        if empty is None:
            raise NotPython(f"{name} of nothing")
        return _code(empty, rule.kind)
    return _ruled(rule, _arguments(js, writer))


def _is_static(js: Call, writer: Writer) -> bool:
    """Whether a call is one of JavaScript's own, as `Object.keys(…)`."""
    callee = js.callee
    if (
        not isinstance(callee, Member)
        or not isinstance(callee.base, Name)
        or not isinstance(callee.key, Const)
    ):
        return False
    return writer.scope.find(callee.base.name) is None and (callee.base.name, callee.key.value) in STATIC


def _method(callee: Member, name: str, js: Call, writer: Writer) -> Code:
    base = Name("crypto") if callee.base == REQUIRED else callee.base
    if (
        isinstance(base, Name)
        and writer.scope.find(base.name) is None
        and writer.host.value(base, writer) is None
    ):
        rule = STATIC.get((base.name, name))
        if rule is None:
            raise NotPython(f"{base.name}.{name}")
        arguments = _arguments(js, writer)
        if rule.name == "print":
            arguments = [f"js_text({one})" for one in arguments if not one.startswith("*")]
        return _ruled(rule, arguments)
    return chained(js, writer)


def chained(js: Js, writer: Writer) -> Code:
    """A chain of fields and calls; where a `?.` stands in it, nothing after it happens if nothing stands before it."""
    links: list[Member | Call] = []
    base: Js = js
    while isinstance(base, Member | Call) and not (isinstance(base, Call) and base.new):
        if base == REQUIRED or (links and writer.host.value(base, writer) is not None):
            break
        if isinstance(base, Call) and (
            not isinstance(base.callee, Member) or (links and _is_static(base, writer))
        ):
            break
        links.insert(0, base)
        base = base.callee.base if isinstance(base, Call) and isinstance(base.callee, Member) else base.base  # type: ignore[union-attr]
    made = writer.value(base)
    return _linked(made, links, writer)


def _member_of(link: Member | Call) -> Member:
    if isinstance(link, Call):
        assert isinstance(link.callee, Member)
        return link.callee
    return link


def _linked(made: Code, links: list[Member | Call], writer: Writer) -> Code:
    at = 0
    while at < len(links):
        link = links[at]
        if _member_of(link).optional:
            rest = links[at:]
            if all(isinstance(one, Member) and _is_named(one) for one in rest[: _next_optional(rest)]):
                linked = rest[: _next_optional(rest)]
                made = _code(f"js_maybe({', '.join([made.text, *(_key(one, writer) for one in linked)])})")
                at += len(linked)
                continue
            held = writer.scope.fresh("held")
            inner = _linked(_code(held), [_plain(links[at]), *links[at + 1 :]], writer)
            return _code(f"(undefined if js_missing({held} := {made.text}) else {inner.text})")
        if isinstance(link, Member) and not _is_named(link):
            made = _code(f"js_field({made.text}, {_key(link, writer)})")
            at += 1
            continue
        if isinstance(link, Member):
            keys = _run(links[at:])
            if len(keys) == 1 and _key(keys[0], writer) == "'length'":
                made = _code(f"js_length({made.text})", "number")
            else:
                made = _fields(made, keys, writer)
            at += len(keys)
            continue
        made = _called(made, link, writer)
        at += 1
    return made


def _fields(made: Code, keys: list[Member], writer: Writer) -> Code:
    names = [_key(one, writer) for one in keys]
    if names[-1] == "'length'":
        return _code(f"js_length(js_get({', '.join([made.text, *names[:-1]])}))", "number")
    return _code(f"js_get({', '.join([made.text, *names])})")


def _next_optional(links: list[Member | Call]) -> int:
    return next((place for place, one in enumerate(links) if place and _member_of(one).optional), len(links))


def _run(links: list[Member | Call]) -> list[Member]:
    """The fields up to the next call or `?.`."""
    made = []
    for link in links:
        if not isinstance(link, Member) or link.optional or not _is_named(link):
            break
        made.append(link)
    return made


def _is_named(link: Member) -> bool:
    """Whether the field's name, or place, stands there."""
    return isinstance(link.key, Const) and (isinstance(link.key.value, str) or type(link.key.value) is int)


def _plain(link: Member | Call) -> Member | Call:
    member = _member_of(link)
    plain = Member(member.base, member.key)
    return plain if isinstance(link, Member) else Call(plain, link.arguments)


def _key(link: Member | Call, writer: Writer) -> str:
    key = _member_of(link).key
    return repr(str(key.value)) if isinstance(key, Const) and isinstance(key.value, str) else writer.text(key)


def _called(owner: Code, link: Call, writer: Writer) -> Code:
    """A method of a value."""
    assert isinstance(link.callee, Member)
    key = link.callee.key
    name = str(key.value) if isinstance(key, Const) else ""
    arguments = _arguments(link, writer)
    for prefix, rule in (
        ("getUTC", "js_part"),
        ("get", "js_part"),
        ("setUTC", "js_set_part"),
        ("set", "js_set_part"),
    ):
        part = name.removeprefix(prefix)
        if name.startswith(prefix) and part in DATE_PARTS:
            return _code(f"{rule}({', '.join([owner.text, repr(part), *arguments])})", "number")
    rule_of = METHODS.get(name)
    if rule_of is None:
        raise NotPython(f"the method {name!r}")
    if any(isinstance(one, Spread) for one in link.arguments) and rule_of.most < 99:  # noqa: PLR2004 - any number
        raise NotPython(f"{name}(…) with a list spread into it")
    return _ruled(rule_of, arguments, owner.text)
