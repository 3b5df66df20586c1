"""n8n's code: Python is kept, JavaScript becomes expressions or Python; a placeholder where neither is certain."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Final

from interlace.importers.expressions import path, shown
from interlace.importers.foreign import Json, text
from interlace.importers.javascript.python import NotPython
from interlace.importers.n8n.context import Site
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Each, Outcome, Whole
from interlace.importers.n8n.nodes.javascript import Translated, python_of
from interlace.importers.n8n.program import Program, read_program
from interlace.importers.n8n.structure import structured, template
from interlace.importers.n8n.values import Flow, NotTranslated, Value, several, shape_of, shaped, single
from interlace.importers.placeholder import failing_code
from interlace.importers.python_code import parsed

_ITEMS: Final = '''

class _Item(dict):
    """One of n8n's items: item["json"] and item.json are its data."""

    @property
    def json(self):
        return self["json"]


class _Input:
    """What n8n calls _input."""

    def __init__(self, items):
        self._items = items

    def all(self):
        return self._items

    def first(self):
        return self._items[0] if self._items else None

    def last(self):
        return self._items[-1] if self._items else None

    @property
    def item(self):
        return self.first()


def _plain(result):
    """The data of what the code returned: items, data, or a list of either."""
    if result is None:
        return []
    entries = result if isinstance(result, list) else [result]
    return [dict(entry["json"]) if isinstance(entry, dict) and "json" in entry else entry for entry in entries]
'''


def _config(node: N8nNode, site: Site, inputs: Json, why: str = "") -> Json:
    language = text(node.parameters.get("language")) or (
        "python" if "pythonCode" in node.parameters else "javaScript"
    )
    source = text(node.parameters.get("pythonCode")) if language.startswith("python") else _javascript(node)
    if language.startswith("python"):
        wrapped = _wrapped(source, each=_for_each(node))
        fault = parsed(wrapped)
        if not isinstance(fault, str):
            if "from js import" in source or "import js" in source or "to_py()" in source:
                site.ctx.say(
                    "decision",
                    "python_js",
                    "The code uses the browser's `js` module, which is not here; remove that.",
                    node,
                )
            site.ctx.say(
                "changed",
                "code",
                "The Python code is kept; `main` gives it `_input`, `_items`, `_item` and `_json`.",
                node,
            )
            return {"code": wrapped, "inputs": inputs}
        reason = f"its Python cannot be read: {fault}"
    else:
        reason = "it is written in JavaScript; write it anew in Python" + (f" ({why})" if why else "")
    message = f"The code of {node.name!r} was not carried over: {reason}."
    site.ctx.say("unsupported", "code_language", message, node)
    return {**failing_code(message, source, language=language), "inputs": inputs}


def _javascript(node: N8nNode) -> str:
    return text(node.parameters.get("jsCode")) or text(node.parameters.get("functionCode"))


def _for_each(node: N8nNode) -> bool:
    return text(node.parameters.get("mode")) == "runOnceForEachItem" or node.kind == "functionItem"


def _wrapped(source: str, *, each: bool) -> str:
    body = textwrap.indent(source.replace("\r\n", "\n").strip("\n") or "return []", "    ")
    lines = "\n".join(line.rstrip() for line in body.split("\n"))
    if each:
        main = "def main(item):\n    return {'items': _plain(_code(_Item(json=item)))}\n"
        return f"{main}\n\ndef _code(_item):\n    _json = _item.json\n    _input = _Input([_item])\n    _items = [_item]\n{lines}\n{_ITEMS}"
    main = "def main(items):\n    return {'items': _plain(_code([_Item(json=item) for item in items]))}\n"
    head = "    items = _items\n    _input = _Input(_items)\n    _item = _input.first()\n    _json = _item.json if _item else {}\n"
    return f"{main}\n\ndef _code(_items):\n{head}{lines}\n{_ITEMS}"


def _simple(node: N8nNode, site: Site) -> Program | None:
    """JavaScript that only names values and returns; None for anything else."""
    if "python" in text(node.parameters.get("language")) or "pythonCode" in node.parameters:
        return None
    try:
        return read_program(_javascript(node), site.scope)
    except NotTranslated:
        return None


def _from_program(node: N8nNode, site: Site, program: Program, flow: Flow) -> dict[int, Flow]:
    site.ctx.say(
        "changed", "javascript", "The JavaScript only names values and returns; it became expressions.", node
    )
    if program.each is not None:
        step = site.add(
            node,
            "LIST_OPERATION",
            {"input": shown(flow.many.code), "operations": [{"map": program.each.code}]},
        )
        made = several(path(step.id, "result"), *site.tails, may_be_empty=flow.may_be_empty)
        return {0: replace(made, shape=shape_of(program.each))}
    if len(program.items) == 1:
        step = site.add(node, "TRANSFORM", structured(program.items[0]))
        return {0: single(shaped(path(step.id, "result"), shape_of(program.items[0])), *site.tails)}
    step = site.add(node, "TRANSFORM", {"input": [template(item) for item in program.items]})
    return {0: several(path(step.id, "result"), *site.tails, may_be_empty=not program.items)}


def for_all(node: N8nNode, site: Site, flows: list[Flow]) -> dict[int, Flow]:
    """Code that runs once for all items."""
    program = _simple(node, site)
    if program is not None:
        return _from_program(node, site, program, flows[0])
    made = _python(node, site, each=False)
    if isinstance(made, Translated):
        step = site.add(node, "CODE", made.config)
        if made.single:
            return {0: single(Value(path(step.id, "item")), *site.tails)}
        return {0: several(path(step.id, "items"), *site.tails)}
    step = site.add(node, "CODE", _config(node, site, {"items": shown(flows[0].many.code)}, made))
    return {0: several(path(step.id, "items"), *site.tails)}


def _python(node: N8nNode, site: Site, *, each: bool) -> Translated | str:
    """JavaScript as Python, or why not; nothing where it is Python already."""
    if "python" in text(node.parameters.get("language")) or "pythonCode" in node.parameters:
        return ""
    try:
        made = python_of(node, _javascript(node), site, each=each)
    except NotPython as error:
        return str(error)
    site.ctx.say(
        "changed", "javascript_to_python",
        "The JavaScript was translated to Python, with JavaScript's rules below it; local time is UTC.", node,
    )  # fmt: skip
    return made


def for_each(node: N8nNode, site: Site) -> Outcome:
    """Code that runs for each item; it gives one item, or none."""
    program = _simple(node, site)
    if program is not None and len(program.items) == 1:
        site.ctx.say(
            "changed",
            "javascript",
            "The JavaScript only names values and returns; it became expressions.",
            node,
        )
        step = site.add(node, "TRANSFORM", structured(program.items[0]))
        return Outcome(shaped(path(step.id, "result"), shape_of(program.items[0])))
    made = _python(node, site, each=True)
    if isinstance(made, Translated):
        step = site.add(node, "CODE", made.config)
        return (
            Outcome(Value(path(step.id, "item")))
            if made.single
            else Outcome(Value(path(step.id, "items"), "items"), listed=True)
        )
    step = site.add(node, "CODE", _config(node, site, {"item": shown(site.scope.current().code)}, made))
    return Outcome(Value(path(step.id, "items"), "items"), listed=True)


EACH: Final = Each(convert=for_each)
ALL: Final = Whole(for_all)


def kind_of_code(node: N8nNode) -> Each | Whole:
    """By the mode of the node."""
    return EACH if _for_each(node) else ALL
