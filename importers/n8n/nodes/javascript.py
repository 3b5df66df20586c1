"""n8n's JavaScript as Python: what `$input`, `$json`, `$('Node')` and `$env` give becomes inputs of the CODE node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from interlace.importers.expressions import shown
from interlace.importers.foreign import Json
from interlace.importers.javascript.python import NotPython, read, translated
from interlace.importers.javascript.python.calls import REQUIRED
from interlace.importers.javascript.python.expressions import Code, Writer
from interlace.importers.javascript.syntax import Call, Const, Js, Member, Name
from interlace.importers.n8n.context import Site
from interlace.importers.n8n.dates import layout
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.values import NotTranslated

_TIMES: Final = {"toISO": "js_date().iso()", "toISODate": "js_date().iso()[:10]", "toMillis": "js_now()"}
_NOW: Final = (Name("$now"), Call(Member(Name("DateTime"), Const("now")), ()))
_REFUSED: Final = {
    "getWorkflowStaticData": "it keeps data from one run to the next",
    "require": "it loads a module",
    "$getWorkflowStaticData": "it keeps data from one run to the next",
    "fetch": "it sends requests",
    "setTimeout": "it waits",
}


@dataclass(frozen=True, slots=True)
class Translated:
    """The config of a CODE node; `single` tells that it gives exactly one item, under `item`."""

    config: Json
    single: bool


@dataclass(slots=True)
class _Items:
    """n8n's names in a program. `inputs` are those of the CODE node, `given` what the program takes for them."""

    node: N8nNode
    site: Site
    each: bool
    inputs: Json = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)

    def value(self, js: Js, writer: Writer) -> Code | None:
        """What n8n's names stand for."""
        if isinstance(js, Name):
            return self._name(js.name, writer)
        if isinstance(js, Call):
            return self._call(js, writer)
        if isinstance(js, Member) and isinstance(js.key, Const):
            return self._member(js.base, str(js.key.value), writer)
        return None

    def _name(self, name: str, writer: Writer) -> Code | None:
        if writer.scope.find(name) is not None:
            return None
        if name == "items" and not self.each:
            return Code("items", "list")
        if name in ("item", "$json") and self.each:
            data = name == "$json" or self.node.kind == "functionItem"
            return Code("js_get(item, 'json')" if data else "item")
        if name == "$json":
            return Code("js_get(js_first(items), 'json')")
        if name == "$itemIndex" and self.each:
            return Code(self._input("index", self.site.scope.index), "number")
        return None

    def _call(self, js: Js, writer: Writer) -> Code | None:
        assert isinstance(js, Call)
        if isinstance(js.callee, Name):
            name = js.callee.name
            if writer.scope.find(name) is None and name in _REFUSED and js != REQUIRED:
                raise NotPython(_REFUSED[name])
            return self._listed(js.arguments) if name == "$items" else None
        if not isinstance(js.callee, Member) or not isinstance(js.callee.key, Const):
            return None
        owner, name = js.callee.base, str(js.callee.key.value)
        if owner in _NOW:
            return self._time(name, js)
        source = self._source(owner)
        if source is None or name not in ("all", "first", "last", "itemMatching"):
            return None
        if js.arguments:
            raise NotPython(f"{name}() with arguments")
        return Code(source, "list") if name == "all" else Code(f"js_{name}({source})")

    def _time(self, name: str, js: Call) -> Code | None:
        if name == "toFormat" and len(js.arguments) == 1 and isinstance(js.arguments[0], Const):
            try:
                form = layout(str(js.arguments[0].value))
            except NotTranslated as error:
                raise NotPython(str(error)) from None
            return Code(f"js_date().parts().strftime({form!r})", "text")
        if name in _TIMES and not js.arguments:
            return Code(_TIMES[name], "number" if name == "toMillis" else "text")
        raise NotPython(f"$now.{name}()")

    def _member(self, base: Js, key: str, writer: Writer) -> Code | None:  # noqa: PLR0911 - one return a case
        if base == Name("$input") and key == "item":
            return Code("item" if self.each else "js_first(items)")
        if isinstance(base, Name) and base.name in ("$env", "$vars") and writer.scope.find(base.name) is None:
            setting = self.site.ctx.setting(key, self.node)
            return Code(self._input(key, f"{setting.code} | default('')"))
        if key == "item" and (name := _node_name(base)) is not None:
            return Code(f"{{'json': {self._paired(name)}}}", "object")
        if key == "json" and (name := _old_name(base)) is not None:
            return Code(self._paired(name))
        if base == Name("$workflow") and key == "name":
            return Code(repr(self.site.scope.workflow), "text")
        if base == Name("$execution") and key == "id":
            return Code(self._input("run_id", "run.id"), "text")
        return None

    def _source(self, js: Js) -> str | None:
        """The items of a node, or those that come in."""
        if js == Name("$input"):
            return "[item]" if self.each else "items"
        name = _node_name(js)
        return None if name is None else self._items_of(name)

    def _listed(self, arguments: tuple[Js, ...]) -> Code:
        if not arguments:
            return Code("[item]" if self.each else "items", "list")
        if len(arguments) > 1 or not isinstance(arguments[0], Const):
            raise NotPython("$items of a run")
        return Code(self._items_of(str(arguments[0].value)), "list")

    def _items_of(self, name: str) -> str:
        try:
            flow = self.site.scope.flow(name)
        except NotTranslated as error:
            raise NotPython(str(error)) from None
        given = self._input(f"{self._named(name)}_items", flow.many.code)
        self.given[given] = f"js_wrapped({given})"
        return given

    def _paired(self, name: str) -> str:
        try:
            found = self.site.scope.paired(name)
        except NotTranslated as error:
            raise NotPython(str(error)) from None
        return self._input(self._named(name), found.code)

    def _named(self, name: str) -> str:
        found = self.site.ctx.file.nodes.get(name)
        return (found.id if found is not None else "") or "node"

    def _input(self, name: str, code: str) -> str:
        wanted = name if name not in ("items", "item") else f"{name}_there"
        self.inputs[wanted] = shown(code)
        self.given.setdefault(wanted, wanted)
        return wanted


def _node_name(js: Js) -> str | None:
    """The name in `$('Name')`."""
    if (
        isinstance(js, Call)
        and js.callee == Name("$")
        and len(js.arguments) == 1
        and isinstance(js.arguments[0], Const)
    ):
        return str(js.arguments[0].value)
    return None


def _old_name(js: Js) -> str | None:
    """The name in `$node['Name']` and `$node.Name`."""
    if isinstance(js, Member) and js.base == Name("$node") and isinstance(js.key, Const):
        return str(js.key.value)
    return None


def python_of(node: N8nNode, source: str, site: Site, *, each: bool) -> Translated:
    """The config of a CODE node that does what the JavaScript does.

    Args:
        node: the code node.
        source: its program.
        site: where it stands.
        each: whether it runs for each item.

    Raises:
        NotPython: something of it has no certain counterpart.
    """
    if "binary" in source:
        raise NotPython("it works on files of items")
    program = read(source)
    host = _Items(node, site, each)
    own = "item" if each else "items"
    # The names that the program needs are known after it was written once; they are kept free the second time.
    translated(program, host, parameters=[own], main="", name="program")
    parameters = [own, *host.inputs]
    arguments = ", ".join(
        ["{'json': item}" if each else "js_wrapped(items)", *(host.given[name] for name in host.inputs)]
    )
    result = f"js_items(program({arguments}))"
    single = program.single
    main = (
        f"def main({', '.join(parameters)}):\n    return {{'item': {result}[0]}}"
        if single
        else f"def main({', '.join(parameters)}):\n    return {{'items': {result}}}"
    )
    code = translated(program, host, parameters=parameters, main=main, name="program")
    given = shown(site.scope.current().code if each else site.scope.items.code)
    return Translated({"code": code, "inputs": {own: given, **host.inputs}}, single)
